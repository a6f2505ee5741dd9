import { readUserGroup } from '../../../operations/user-group/read.ts';
import { endpoint } from '../../endpoint.ts';
import { groupOfPath } from '../../prefetch.ts';
import { userGroupIdParameter } from '../../request/path-parameter.ts';
import { setEntityTag } from '../../response/entity-tag.ts';
import { example, groupResponse, respondWithGroup } from './representation.ts';

export const read = endpoint({
  operationId: 'readUserGroup',
  method: 'GET',
  paths: ['/v1/user-groups/:user_group_id'],
  permissions: ['read-write', 'read-only'],
  purpose: 'read user groups',
  isConditional: true,
  prefetch: groupOfPath,
  handle: async ({ context, caller, precondition, request, reply }) => {
    const group = await readUserGroup(context, caller, userGroupIdParameter(request), precondition);
    if ('notModified' in group) {
      setEntityTag(reply, group.notModified);
      reply.code(304);
      return undefined;
    }
    return respondWithGroup(reply, group);
  },
  description: {
    tag: 'User groups',
    summary: 'Read a user group',
    text:
      'Returns everything stored of the user group. `token` is present only if the API token has `read-write` or `admin`.\n\n' +
      'With `If-None-Match: "…"`, the `ETag` of an earlier response, the response is 304 without a body if nothing has changed.',
    responses: {
      200: groupResponse('The user group.', {
        readWrite: ['With a read-write API token', example.stored],
        readOnly: ['With a read-only API token', example.listed],
      }),
      304: { description: 'The user group has a version that `If-None-Match` names.', headers: ['ETag'] },
    },
    problems: ['user_group_not_found'],
  },
});
