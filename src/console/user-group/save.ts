import { findUserGroup } from '../../operations/user-group/read.ts';
import { updateUserGroup } from '../../operations/user-group/update.ts';
import { pathTo } from '../html.ts';
import { withNotice } from '../notice.ts';
import { type Page, WRITERS } from '../page.ts';
import { isConflict, preconditionIn } from '../version.ts';
import { conflictView } from './conflict.ts';
import { retryEdit } from './edit.ts';
import { changedFields } from './form.ts';
import { readSubmission } from './review.ts';

/** Stores the fields that differ. A form that is sent twice finds nothing to change the second time. */
export const save: Page = {
  method: 'POST',
  path: '/user-groups/:user_group_id/save',
  permissions: WRITERS,
  purpose: 'update user groups',
  access: 'write',
  handle: async (call) => {
    const { context, caller, form } = call;
    const { stored, fields } = await readSubmission(call);
    const { providedId } = stored;
    const group = pathTo('user-groups', providedId);
    const changed = changedFields(stored, fields);
    if (Object.keys(changed).length === 0) return { location: withNotice(group, 'unchanged') };
    const precondition = preconditionIn(form);
    try {
      await updateUserGroup(context, caller, { userGroupId: providedId, ...changed }, precondition);
    } catch (error) {
      if (!isConflict(error)) throw error;
      return conflictView(call, await findUserGroup(context, caller, providedId), fields);
    }
    return { location: withNotice(group, 'saved') };
  },
  retry: retryEdit,
};
