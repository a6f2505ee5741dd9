// The mapping policy of an environment: whether a mapping may have a dangling reference.

import type { Document, DocumentDefinition } from './document.ts';
import { modeField, type PolicyMode } from './policy-mode.ts';
import { bodyType } from './request-body.ts';

export const mappingPolicyDefinition = {
  kind: 'mapping_policy',
  noun: 'mapping policy',
  limit: { documents: 1, bytes: 1_024 },
} as const satisfies DocumentDefinition;

export const mappingPolicyBody = bodyType({
  name: 'MappingPolicy',
  fields: { mode: modeField },
  required: ['mode'],
  convert: ({ value }) => value,
});

/** `off` unless one is stored. */
export function mappingMode(policy: Pick<Document, 'body'> | null | undefined): PolicyMode {
  return policy ? (JSON.parse(policy.body) as { mode: PolicyMode }).mode : 'off';
}
