// The property schema of an environment: what the properties of its user groups must be.

import { type Document, type DocumentDefinition, documentFields } from './document.ts';
import type { JsonText } from './json/strict-json.ts';
import { SCHEMA_BYTES } from './json-schema/property-check.ts';
import { modeField, type PolicyMode } from './policy-mode.ts';
import { bodyType, invalidField } from './request-body.ts';

export const propertySchemaDefinition = {
  kind: 'property_schema',
  noun: 'property schema',
  limit: { documents: 1, bytes: 128 * 1024 },
} as const satisfies DocumentDefinition;

/** `schema` with exact digits. */
export interface PropertySchema {
  schema: JsonText;
  mode: PolicyMode;
}

const schemaField = {
  type: ['object', 'boolean'],
  // The default; without it, type generators would produce an empty object.
  additionalProperties: true,
  'x-max-bytes': SCHEMA_BYTES,
  description:
    `A JSON Schema 2020-12 for \`properties\`, at most ${SCHEMA_BYTES / 1024} KiB. Patterns are regular expressions of ` +
    'ECMAScript without lookaround or backreferences, numbers are compared exactly, `$ref` must refer to a place in the schema, and `format` is an annotation.',
} as const;

export const propertySchemaFields = { schema: schemaField, mode: modeField };

export const propertySchemaBody = bodyType({
  name: 'PropertySchema',
  fields: propertySchemaFields,
  required: ['schema', 'mode'],
  convert: ({ value, members }): PropertySchema => {
    const schema = members.get('schema')!;
    const size = Buffer.byteLength(schema);
    if (size > SCHEMA_BYTES)
      throw invalidField('/schema', `must be at most ${SCHEMA_BYTES} bytes of JSON and has ${size}`);
    return { schema, mode: value.mode };
  },
});

export function parsePropertySchema(document: Pick<Document, 'body'>): PropertySchema {
  const { schema, mode } = documentFields(document);
  return { schema: schema!, mode: JSON.parse(mode!) as PolicyMode };
}
