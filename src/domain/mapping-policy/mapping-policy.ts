// The mapping policy of an environment: whether a mapping may have a dangling reference.

import type { Document, DocumentDefinition } from '../document.ts';
import type { PolicyMode } from '../policy-mode.ts';

export const mappingPolicyDefinition = {
  kind: 'mapping_policy',
  noun: 'mapping policy',
  limit: { documents: 1, bytes: 1_024 },
} as const satisfies DocumentDefinition;

/** `off` unless a policy is stored. */
export function mappingMode(policy: Pick<Document, 'body'> | null | undefined): PolicyMode {
  return policy ? (JSON.parse(policy.body) as { mode: PolicyMode }).mode : 'off';
}
