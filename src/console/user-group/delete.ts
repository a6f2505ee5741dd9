import { invalidField } from '../../domain/request-body.ts';
import { versionTag } from '../../domain/user-group/user-group.ts';
import { userGroupIdOf } from '../../http/request/path-parameter.ts';
import { deleteUserGroup } from '../../operations/user-group/delete.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import type { Problem } from '../../problem.ts';
import { confirmationProblem } from '../document-version.ts';
import { actionForm, cancel, submit, textField } from '../fields.ts';
import { html, link, pathTo } from '../html.ts';
import { withNotice } from '../notice.ts';
import { type Page, type PageCall, type View, WRITERS } from '../page.ts';
import { consequences } from './consequences.ts';
import { versionField, versionOf } from './version.ts';

const shared = {
  path: '/user-groups/:user_group_id/delete',
  permissions: WRITERS,
  purpose: 'delete user groups',
} as const;

export const removeForm: Page = {
  ...shared,
  method: 'GET',
  access: 'read',
  handle: (call) => removeView(call),
};

/** Only with the id typed, so that nobody deletes the wrong group by a click. */
export const remove: Page = {
  ...shared,
  method: 'POST',
  access: 'write',
  handle: async ({ context, caller, request, form }) => {
    const id = userGroupIdOf(request);
    if (form.text('user_group_id') !== id)
      throw invalidField('/user_group_id', 'must be exactly the id of this user group');
    await deleteUserGroup(context, caller, id, { ifMatch: [versionOf(form)] });
    return { location: withNotice(pathTo('user-groups'), 'deleted') };
  },
  retry: removeView,
};

async function removeView(call: PageCall, problem?: Problem): Promise<View> {
  const { context, caller, request, session, form } = call;
  const userGroup = await findUserGroup(context, caller, userGroupIdOf(request));
  const group = pathTo('user-groups', userGroup.providedId);
  const content = html`${versionField(versionTag(userGroup))}
${textField({
  name: 'user_group_id',
  label: 'Type the id to confirm',
  value: form.text('user_group_id'),
  isRequired: true,
  problem,
})}
<div class="actions">${submit('Delete', 'danger')} ${cancel(group)}</div>`;
  return {
    title: `Delete ${userGroup.providedId}`,
    main: html`<h1>Delete user group</h1>
<p>${link(group, userGroup.providedId)} (${userGroup.name})</p>
${confirmationProblem('user group', problem)}
<p>Its token is dead from the next request on, and its name, mapping and properties are gone, in its events too. Another user group can then have its id.</p>
${await consequences(call, userGroup, [])}
${actionForm(session, `${group}/delete`, content)}`,
  };
}
