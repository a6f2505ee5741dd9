import { updateUserGroup } from '../../operations/user-group/update.ts';
import { isConflict, preconditionIn } from '../form/version.ts';
import { pathTo } from '../markup/html.ts';
import { type Page, type PageCall, type View, WRITERS } from '../page.ts';
import { showRejectedEdit } from './edit.ts';
import { changedFields, type Submission } from './form.ts';
import { groupIn, UNCHANGED } from './group.ts';
import { isStale, mergeView, readSubmission } from './review.ts';

/** Stores the fields that differ. A form that is sent twice finds nothing to change the second time. */
export const save: Page = {
  method: 'POST',
  path: '/user-groups/:user_group_id/save',
  permissions: WRITERS,
  purpose: 'update user groups',
  handle: async (call) => {
    const { context, caller, form } = call;
    const submission = await readSubmission(call);
    const { stored, fields } = submission;
    const { providedId } = stored;
    const group = pathTo('user-groups', providedId);
    const changed = changedFields(stored, fields);
    if (Object.keys(changed).length === 0) return { location: group, notice: UNCHANGED };
    if (isStale(call, submission)) return staleView(call, submission);
    try {
      await updateUserGroup(context, caller, { userGroupId: providedId, ...changed }, preconditionIn(form));
    } catch (error) {
      if (!isConflict(error)) throw error;
      return staleView(call, { ...submission, stored: await groupIn(call) });
    }
    return { location: group, notice: 'The changes were saved.' };
  },
  onRejection: showRejectedEdit,
};

/** Saves nothing before the person has seen what others have changed. */
async function staleView(call: PageCall, submission: Submission): Promise<View> {
  return { ...(await mergeView(call, submission)), status: 412 };
}
