import type { Caller } from '../../domain/api-token.ts';
import { SINGLETON_ID } from '../../domain/document.ts';
import { jsonText } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { mappingPolicyDefinition } from '../../domain/mapping-policy/mapping-policy.ts';
import type { PolicyMode } from '../../domain/policy-mode.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { type DocumentContext, putDocument, type StoredDocument } from '../document/document.ts';

export function putMappingPolicy(
  context: DocumentContext,
  caller: Caller,
  mode: PolicyMode,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  const replacement = () => ({ body: mappingPolicyText({ mode }) });
  return putDocument(context, caller, mappingPolicyDefinition, SINGLETON_ID, replacement, precondition);
}

export function mappingPolicyText({ mode }: { mode: PolicyMode }): JsonText {
  return jsonText({ mode });
}
