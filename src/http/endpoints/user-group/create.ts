import { userGroupBody } from '../../../domain/user-group/user-group-body.ts';
import { ifNoneMatchText } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { groupOfBody } from '../../prefetch.ts';
import { createdExample, found, foundExamples, handleGetOrCreate, requestExamples } from './get-or-create.ts';

export const create = endpoint({
  operationId: 'createUserGroup',
  method: 'POST',
  paths: ['/v1/user-groups'],
  permissions: ['read-write', 'read-only'],
  purpose: 'get user groups',
  access: 'either',
  body: userGroupBody,
  isConditional: true,
  prefetch: groupOfBody,
  handle: (call) => handleGetOrCreate(call, 201),
  description: {
    tag: 'User groups',
    summary: 'Get or create, by POST',
    text:
      'The same call as `GET /api/user`, for clients and proxies that cannot send a body with GET. Returns 201 ' +
      `if it created the group, otherwise 200.${ifNoneMatchText}`,
    requests: requestExamples,
    responses: {
      200: { description: 'The existing user group, unchanged.', ...found, examples: foundExamples },
      201: {
        description: 'The user group that this call created.',
        headers: ['ETag'],
        schema: found.schema,
        examples: createdExample,
      },
    },
    problems: ['user_group_not_found', 'mapping_invalid', 'properties_invalid'],
  },
});
