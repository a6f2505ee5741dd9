import { userGroupRenameBody } from '../../domain/user-group/user-group-body.ts';
import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import { renameUserGroup } from '../../operations/user-group/rename.ts';
import { Problem } from '../../problem.ts';
import { readForm, textMember } from '../form/form.ts';
import { preconditionIn } from '../form/version.ts';
import { pathTo } from '../markup/html.ts';
import { groupConfirmation, UNCHANGED } from './group.ts';

export const renaming = groupConfirmation({
  action: 'rename',
  effect:
    'It gets another id, and keeps its token, fields, history and reserved data sources. A program that asks for the old id creates another user group: change your own records first.',
  act: async ({ context, caller, request, form }) => {
    const { userGroupId: id } = await readForm(context, form, userGroupRenameBody, () => ({
      user_group_id: textMember(form, 'user_group_id') ?? '""',
    }));
    const before = userGroupIdParameter(request);
    try {
      await renameUserGroup(context, caller, before, id, preconditionIn(form));
    } catch (error) {
      throw error instanceof Problem && error.code === 'user_group_exists' ? TAKEN : error;
    }
    const notice = id === before ? UNCHANGED : 'The user group was renamed. Its token is the same.';
    return { location: pathTo('user-groups', id), notice };
  },
  idLabel: 'New id',
});

const TAKEN = new Problem('user_group_exists', 'Another user group has this id: nothing was changed.', {
  errors: [{ pointer: '/user_group_id', detail: 'is the id of another user group' }],
});
