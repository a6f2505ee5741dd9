// JSON Schemas as the API description uses them. Those of requests also validate (`domain/request-body.ts`);
// the tests check every response against those of responses.

/** The keywords in use. */
export interface Schema {
  readonly $ref?: string;
  /** Makes the schema a component of the API description, which generated code names. */
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
  title: string,
  properties: Record<string, Schema>,
  optional?: readonly string[],
): Schema {
  return namedSchema(title, { success: { type: 'integer', const: 1 }, ...properties }, optional);
}

export function pageSchema(title: string, member: string, items: Schema): Schema {
  return successSchema(title, { [member]: { type: 'array', items }, next_cursor: nextCursorSchema });
}

export function namedSchema(
  title: string,
  properties: Record<string, Schema>,
  optional?: readonly string[],
): Schema {
  return { title, ...objectSchema(properties, optional) };
}

/** Allows additional members: `/v1` grows, and clients must not break when it does. */
export function objectSchema(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}
