// JSON Schemas of requests and responses, and types of the values that they accept, so that code cannot read a field
// that no schema checks. A library would add three packages for these few keywords.

/** A JSON Schema, with the keywords in use; `x-…-detail` is the message for a value that breaks the keyword. */
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
  readonly 'x-type-detail'?: string;
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
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly oneOf?: readonly Schema[];
}

interface Scalars {
  string: string;
  integer: number;
  boolean: boolean;
  null: null;
}

type SchemaValue<Given> = Given extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Given extends { readonly type: readonly (infer Type)[] }
    ? TypedValue<Given, Type>
    : Given extends { readonly type: infer Type }
      ? TypedValue<Given, Type>
      : unknown;

type TypedValue<Given, Type> = Type extends keyof Scalars
  ? Scalars[Type]
  : Type extends 'array'
    ? readonly (Given extends { readonly items: infer Item } ? SchemaValue<Item> : unknown)[]
    : Type extends 'object'
      ? object
      : unknown;

/** Names of the members with a default: they always have a value. */
type Defaulted<Schemas> = {
  [Name in keyof Schemas]: Schemas[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Schemas];

type Members<Schemas, Present> = {
  [Name in keyof Schemas as Name extends Present ? Name : never]: SchemaValue<Schemas[Name]>;
} & {
  [Name in keyof Schemas as Name extends Present ? never : Name]?: SchemaValue<Schemas[Name]>;
};

/** The members of an object with these schemas, with their defaults. Others may be absent unless they are required. */
export type SchemaMembers<Schemas, Required = never> = Members<Schemas, Required | Defaulted<Schemas>>;

/** Returns a function that adds the default of each absent member. */
export function defaultsOf(schemas: Readonly<Record<string, Schema>>): (members: object) => void {
  const defaults = Object.entries(schemas).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default] as const] : [],
  );
  return (members) => {
    for (const [name, value] of defaults) (members as Record<string, unknown>)[name] ??= value;
  };
}
