import { invalidField } from '../../domain/request-body.ts';
import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import { deleteUserGroup } from '../../operations/user-group/delete.ts';
import { preconditionIn } from '../form/version.ts';
import { pathTo } from '../markup/html.ts';
import { groupConfirmation } from './group.ts';

/** Requires the person to type the id, so that a click does not delete the wrong group. */
export const deletion = groupConfirmation({
  action: 'delete',
  effect:
    'Its token stops working immediately. Its name, mapping and properties are deleted, including those in its events. The id can be used for a new user group.',
  act: async ({ context, caller, request, form }) => {
    const id = userGroupIdParameter(request);
    if (form.text('user_group_id') !== id)
      throw invalidField('/user_group_id', 'must be exactly the id of this user group');
    await deleteUserGroup(context, caller, id, preconditionIn(form));
    const notice = 'The user group was deleted. Its token is no longer valid.';
    return { location: pathTo('user-groups'), notice };
  },
  idLabel: 'Type the id to confirm',
});
