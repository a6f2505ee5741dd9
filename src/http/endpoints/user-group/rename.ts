import { userGroupRenameBody } from '../../../domain/user-group/user-group-body.ts';
import { renameUserGroup } from '../../../operations/user-group/rename.ts';
import { ifMatchText } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { groupOfPath } from '../../prefetch.ts';
import { userGroupIdParameter } from '../../request/path-parameter.ts';
import { example, groupResponse, respondWithGroup } from './representation.ts';

export const rename = endpoint({
  operationId: 'renameUserGroup',
  method: 'POST',
  paths: ['/v1/user-groups/:user_group_id/rename'],
  permissions: ['read-write'],
  purpose: 'rename user groups',
  body: userGroupRenameBody,
  isConditional: true,
  prefetch: groupOfPath,
  handle: async ({ context, caller, body, precondition, request, reply }) => {
    const id = userGroupIdParameter(request);
    const group = await renameUserGroup(context, caller, id, body.userGroupId, precondition);
    return respondWithGroup(reply, group);
  },
  description: {
    tag: 'User groups',
    summary: 'Rename a user group',
    text:
      'Gives the group another `user_group_id`. It keeps everything else: `team_id`, tokens (the current one and one in ' +
      'its grace period), name, mapping, properties, suspension and history. From the next request on the new id leads to ' +
      'the group, and the old one to none: it can be used for a new group. Data sources that are reserved for the group ' +
      'stay reserved for it. Usage that was counted before, and earlier events, keep the old id; embed tokens that were ' +
      'minted before name it, so the service rejects them.\n\n' +
      'Repeating the call returns the renamed group, unless the old id has a group again: 409 `user_group_exists`, as for ' +
      'any other group that has the new id. Without events (`UGS_EVENT_RETENTION_DAYS=0`) a repeated call is 404. The ' +
      `response is that of the read.${ifMatchText}`,
    requests: { renamed: { summary: 'Another id', value: { user_group_id: 'acme-eu-7' } } },
    responses: {
      200: groupResponse('The user group with its new id.', {
        renamed: ['Renamed', { ...example.stored, provided_id: 'acme-eu-7' }],
      }),
    },
    problems: ['user_group_not_found', 'user_group_exists', 'limit_reached'],
  },
});
