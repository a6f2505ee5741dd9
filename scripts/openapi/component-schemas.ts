// Converts JSON Schemas to a form that code generators understand, and back: a schema with a title becomes a
// component, which gets a name in the generated code, a value of several types becomes a choice between
// schemas of one type, and an integer that can exceed 32 bits has a format.

import type { OpenAPIV3 } from 'openapi-types';
import type { Schema } from '../../src/http/schema.ts';

type SchemaObject = OpenAPIV3.SchemaObject;
type Components = Record<string, SchemaObject>;

const REFERENCE = '#/components/schemas/';

/** The type of openapi-types lacks keywords of JSON Schema 2020-12 and has some of OpenAPI 3.0. */
export function schemaObject(schema: Schema): SchemaObject {
  return schema as unknown as SchemaObject;
}

/** Returns the schemas and those within them, by title. */
export function componentSchemas(schemas: readonly Schema[]): Components {
  const components: Components = {};
  for (const each of schemas) reference(each, components);
  return components;
}

/** Replaces nested schemas by references. */
function withReferences(schema: Schema, components: Components): Schema {
  const published: Schema = withFormat(splitTypes(schema));
  const nested = (each: Schema) => reference(each, components);
  const { properties, additionalProperties, items, oneOf } = published;
  return {
    ...published,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, nested(each)])),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: nested(additionalProperties) }),
    ...(items && { items: nested(items) }),
    ...(oneOf && { oneOf: oneOf.map(nested) }),
  };
}

function reference(schema: Schema, components: Components): Schema {
  if (schema.title === undefined) return withReferences(schema, components);
  const { title, ...untitled } = schema;
  if (!(title in components)) {
    // Reserves the place of the component before the components that it contains.
    components[title] = {};
    components[title] = schemaObject(withReferences(untitled, components));
  }
  return { $ref: REFERENCE + title };
}

/** Returns the schema with the schemas that it refers to in their places, except those with the names in `kept`. */
export function withoutReferences(
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  kept: readonly string[] = [],
): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (!value?.$ref?.startsWith?.(REFERENCE)) return value;
    const name = schemaName(value.$ref);
    return kept.includes(name) ? value : withoutReferences(schemas[name]!, schemas, kept);
  });
}

/** Returns the name of the schema that a reference leads to. */
export function schemaName(reference: string): string {
  return reference.slice(REFERENCE.length);
}

/** Keywords that apply only to values of one type. */
const keywords = {
  string: ['minLength', 'maxLength'],
  integer: ['minimum', 'maximum'],
} as const satisfies Record<string, readonly (keyof Schema)[]>;

/**
 * Splits a schema with several types. A type together with null counts as one type, which every generator
 * knows.
 */
function splitTypes(schema: Schema): Schema {
  const types = [schema.type ?? []].flat();
  if (types.filter((type) => type !== 'null').length < 2) return schema;
  const { type: _, additionalProperties: __, ...common } = schema;
  // Any value: generators have no type for a choice between an object and a boolean.
  if (types.includes('object')) return common;
  const own = Object.values(keywords).flat() as string[];
  const shared = Object.fromEntries(Object.entries(common).filter(([name]) => !own.includes(name)));
  return { ...shared, oneOf: types.map((type) => ({ type, ...pick(schema, type) })) };
}

/** Without the format, generators for Java and Rust choose a type of 32 bits. */
export function withFormat(schema: Schema): Schema {
  const isInteger = [schema.type].flat().includes('integer') && schema.const === undefined;
  return isInteger && !(schema.maximum! < 2 ** 31) ? { ...schema, format: 'int64' } : schema;
}

function pick(schema: Schema, type: string): Schema {
  const names: readonly string[] = keywords[type as keyof typeof keywords] ?? [];
  return Object.fromEntries(Object.entries(schema).filter(([name]) => names.includes(name)));
}
