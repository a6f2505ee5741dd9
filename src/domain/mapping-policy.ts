// The mapping policy of an environment: whether a mapping may have a dangling reference.

import type { DocumentDefinition } from './document.ts';

export const mappingPolicyDefinition = {
  kind: 'mapping_policy',
  noun: 'mapping policy',
  limit: { documents: 1, bytes: 1_024 },
} as const satisfies DocumentDefinition;
