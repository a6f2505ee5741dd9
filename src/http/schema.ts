// JSON Schemas as the API description uses them. Those of requests also validate (`domain/request-body.ts`);
// the tests check every response against those of responses.

/** The keywords in use. */
export interface Schema {
  readonly $ref?: string;
  /** Name of a nested schema, which makes it a component of the API description. */
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly not?: Schema;
  readonly 'x-pattern-detail'?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly 'x-max-bytes'?: number;
  readonly 'x-max-levels'?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly oneOf?: readonly Schema[];
}

/** A schema under `components` of the API description. */
export interface NamedSchema {
  name: string;
  schema: Schema;
}

export const timestampSchema = {
  type: 'string',
  format: 'date-time',
  description: 'RFC 3339, UTC.',
} as const satisfies Schema;

export function timestampOrNullSchema(description: string = timestampSchema.description) {
  return { ...timestampSchema, type: ['string', 'null'], description } as const satisfies Schema;
}

const nextCursorSchema = {
  type: ['string', 'null'],
  description: 'The `cursor` of the next page; null on the last one.',
} as const satisfies Schema;

export function successSchema(
  name: string,
  properties: Record<string, Schema>,
  optional: readonly string[] = [],
): NamedSchema {
  const members = { success: { type: 'integer', const: 1 }, ...properties } as const;
  return { name, schema: objectSchema(members, optional) };
}

export function pageSchema(name: string, member: string, items: Schema): NamedSchema {
  return successSchema(name, { [member]: { type: 'array', items }, next_cursor: nextCursorSchema });
}

/** A nested schema that generated code names. */
export function titled(title: string, schema: Schema): Schema {
  return { title, ...schema };
}

/** Allows additional members: `/v1` grows, and clients must not break when it does. */
export function objectSchema(
  properties: Record<string, Schema>,
  optional: readonly string[] = [],
  description?: string,
): Schema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  };
}
