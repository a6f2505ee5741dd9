// Types of the values that JSON Schemas accept, for the keywords that requests use, so that code cannot read
// a field that no schema checks, and their defaults. A library would add three packages for these few keywords.

interface Scalars {
  string: string;
  integer: number;
  boolean: boolean;
  null: null;
}

type SchemaValue<Schema> = Schema extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { readonly type: readonly (infer Type)[] }
    ? TypedValue<Schema, Type>
    : Schema extends { readonly type: infer Type }
      ? TypedValue<Schema, Type>
      : unknown;

type TypedValue<Schema, Type> = Type extends keyof Scalars
  ? Scalars[Type]
  : Type extends 'array'
    ? readonly (Schema extends { readonly items: infer Item } ? SchemaValue<Item> : unknown)[]
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
export function defaultsOf(schemas: Readonly<Record<string, object>>): (members: object) => void {
  const defaults = Object.entries(schemas).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default] as const] : [],
  );
  return (members) => {
    for (const [name, value] of defaults) (members as Record<string, unknown>)[name] ??= value;
  };
}
