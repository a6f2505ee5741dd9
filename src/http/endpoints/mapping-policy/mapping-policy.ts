import { documentTag, SINGLETON_ID } from '../../../domain/document.ts';
import { mappingMode, mappingPolicyDefinition } from '../../../domain/mapping-policy/mapping-policy.ts';
import { mappingPolicyBody } from '../../../domain/mapping-policy/mapping-policy-body.ts';
import { modeField } from '../../../domain/policy-mode.ts';
import { findDocument } from '../../../operations/document/document.ts';
import { putMappingPolicy as put } from '../../../operations/mapping-policy/put.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonObject, successBody } from '../../json.ts';
import { setDocumentTag, setVersionTag } from '../../response/entity-tag.ts';
import { objectSchema, successSchema } from '../../schema.ts';

const responses = {
  200: {
    description: 'The mapping policy.',
    headers: ['ETag'],
    schema: successSchema('StoredMappingPolicy', { mapping_policy: objectSchema({ mode: modeField }) }),
    examples: successExample('report', 'Report', { mapping_policy: { mode: 'report' } }),
  },
} as const;
const shared = { paths: ['/v1/mapping-policy'] } as const;

export const readMappingPolicy = endpoint({
  ...shared,
  operationId: 'readMappingPolicy',
  method: 'GET',
  permissions: ['read-write', 'read-only'],
  purpose: 'read the mapping policy',
  handle: async ({ context, caller, reply }) => {
    const stored = await findDocument(context, caller, mappingPolicyDefinition);
    setVersionTag(reply, documentTag(stored ?? mappingPolicyDefinition.default));
    return successBody({ mapping_policy: jsonObject({ mode: mappingMode(stored) }) });
  },
  description: {
    tag: 'Catalogue',
    summary: 'Read the mapping policy',
    text: 'Returns what happens to mappings that refer to unknown schemas or data sources; `off` unless it was set.',
    responses,
  },
});

export const putMappingPolicy = endpoint({
  ...shared,
  operationId: 'putMappingPolicy',
  method: 'PUT',
  permissions: ['admin'],
  purpose: 'change the mapping policy',
  body: mappingPolicyBody,
  isConditional: true,
  handle: async ({ context, caller, body, precondition, reply }) => {
    const { document } = await put(context, caller, SINGLETON_ID, body, precondition);
    setDocumentTag(reply, document);
    return successBody({ mapping_policy: jsonObject(body) });
  },
  description: {
    tag: 'Catalogue',
    summary: 'Set the mapping policy',
    text:
      'Decides what happens to mappings that refer to a schema or data source that does not exist, or to a data source of ' +
      'another schema. Stored mappings are not changed: `user-group-service check` lists those that violate it.',
    requests: { report: { summary: 'Report violations', value: { mode: 'report' } } },
    responses,
  },
});
