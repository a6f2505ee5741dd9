// The mapping policy of an environment: whether a mapping may have a dangling reference.

import { type Document, type DocumentDefinition, documentTag } from '../document.ts';
import type { PolicyMode } from '../policy-mode.ts';

export const mappingPolicyDefinition = {
  kind: 'mapping_policy',
  noun: 'mapping policy',
  limit: { documents: 1, bytes: 1_024 },
  // No stored policy has it: none was created in 1970.
  defaultTag: documentTag({ createdAt: 1, version: 1 }),
} as const satisfies DocumentDefinition;

/** `off` unless a policy is stored. */
export function mappingMode(policy: Pick<Document, 'body'> | null | undefined): PolicyMode {
  return policy ? (JSON.parse(policy.body) as { mode: PolicyMode }).mode : 'off';
}
