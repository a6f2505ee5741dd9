import { deleteUserGroup } from '../../../operations/user-group/delete.ts';
import { ifMatchText } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { groupOfPath } from '../../prefetch.ts';
import { userGroupIdParameter } from '../../request/path-parameter.ts';

export const remove = endpoint({
  operationId: 'deleteUserGroup',
  method: 'DELETE',
  paths: ['/v1/user-groups/:user_group_id'],
  permissions: ['read-write'],
  purpose: 'delete user groups',
  isConditional: true,
  prefetch: groupOfPath,
  handle: async ({ context, caller, precondition, request }) => {
    await deleteUserGroup(context, caller, userGroupIdParameter(request), precondition);
    return undefined;
  },
  description: {
    tag: 'User groups',
    summary: 'Delete a user group',
    text:
      'Deletes the group. Every process rejects its token immediately. The id can be used again: the next group with ' +
      `it has another \`team_id\` and another token. Its earlier events remain, without their values.${ifMatchText}`,
    responses: { 204: { description: 'The user group was deleted.' } },
    problems: ['user_group_not_found'],
  },
});
