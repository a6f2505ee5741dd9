// The property schema of an environment: what the properties of its user groups must be.

import { type Document, type DocumentDefinition, documentFields } from '../document.ts';
import type { JsonText } from '../json/strict-json.ts';
import type { PolicyMode } from '../policy-mode.ts';

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

export function parsePropertySchema(document: Pick<Document, 'body'>): PropertySchema {
  const { schema, mode } = documentFields(document);
  return { schema: schema!, mode: JSON.parse(mode!) as PolicyMode };
}
