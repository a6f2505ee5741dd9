// Types of the values that JSON Schemas accept, for the keywords that requests use, so that code cannot read
// a field that no schema checks. A library would add three packages for these few keywords.

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

/** The members of an object with these schemas. One with a default may be absent, like all that are not required. */
export type SchemaMembers<Schemas, Required> = {
  [Name in keyof Schemas as Name extends Required ? Name : never]: SchemaValue<Schemas[Name]>;
} & {
  [Name in keyof Schemas as Name extends Required ? never : Name]?: SchemaValue<Schemas[Name]>;
};
