// The property schema of an environment: what the properties of its user groups must be.

import type { DocumentDefinition } from './document.ts';

export const propertySchemaDefinition = {
  kind: 'property_schema',
  noun: 'property schema',
  limit: { documents: 1, bytes: 128 * 1024 },
} as const satisfies DocumentDefinition;
