// Whether a rule about stored fields is ignored, reported or enforced.

import type { DocumentDefinition } from './document.ts';

export const policyModes = ['off', 'report', 'enforce'] as const;
export type PolicyMode = (typeof policyModes)[number];

export const modeField = {
  type: 'string',
  enum: policyModes,
  description:
    '`off`: nothing is checked. `report`: changes are accepted, and the response lists violations in the header ' +
    '`User-Group-Violations`. `enforce`: changes that violate the rule are rejected with 422.',
} as const;

/** An environment has one of each. */
export const SINGLETON_ID = 'default';

export const mappingPolicyDefinition = {
  kind: 'mapping_policy',
  noun: 'mapping policy',
  limit: { documents: 1, bytes: 1_024 },
} as const satisfies DocumentDefinition;

export const propertySchemaDefinition = {
  kind: 'property_schema',
  noun: 'property schema',
  limit: { documents: 1, bytes: 128 * 1024 },
} as const satisfies DocumentDefinition;
