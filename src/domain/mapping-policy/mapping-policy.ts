// The mapping policy of an environment: whether a mapping may have a dangling reference.

import type { Document, DocumentDefinition } from '../document.ts';
import { jsonText } from '../json/json-tree.ts';
import type { PolicyMode } from '../policy-mode.ts';

export const mappingPolicyDefinition = {
  kind: 'mapping_policy',
  noun: 'mapping policy',
  limit: { documents: 1, bytes: 1_024 },
  // No stored policy has its entity tag: none was created in 1970.
  default: { body: jsonText({ mode: 'off' }), version: 1, secret: null, createdAt: 1, updatedAt: 1 },
} as const satisfies DocumentDefinition;

export function mappingMode(policy: Pick<Document, 'body'> | null | undefined): PolicyMode {
  const { body } = policy ?? mappingPolicyDefinition.default;
  return (JSON.parse(body) as { mode: PolicyMode }).mode;
}
