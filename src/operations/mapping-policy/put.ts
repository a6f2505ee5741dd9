import { jsonText } from '../../domain/json/json-tree.ts';
import { mappingPolicyDefinition } from '../../domain/mapping-policy/mapping-policy.ts';
import type { PolicyMode } from '../../domain/policy-mode.ts';
import { type NewDocument, putPrepared } from '../document/document.ts';

export function prepareMappingPolicy(_target: unknown, { mode }: { mode: PolicyMode }): NewDocument {
  return { body: jsonText({ mode }) };
}

export const putMappingPolicy = putPrepared(mappingPolicyDefinition, prepareMappingPolicy);
