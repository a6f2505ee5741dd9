// The body that replaces the property schema.

import { modeField } from '../policy-mode.ts';
import { bodyType } from '../request-body.ts';
import type { PropertySchema } from './property-schema.ts';

export const SCHEMA_BYTES = 64 * 1024;

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
  convert: ({ value, members }): PropertySchema => ({ schema: members.get('schema')!, mode: value.mode }),
});
