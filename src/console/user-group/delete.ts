import { invalidField } from '../../domain/request-body.ts';
import { versionTag } from '../../domain/user-group/user-group.ts';
import { userGroupIdOf } from '../../http/request/path-parameter.ts';
import { deleteUserGroup } from '../../operations/user-group/delete.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import { textField } from '../fields.ts';
import { formPages, formView } from '../form-pages.ts';
import { html, link, pathTo } from '../html.ts';
import { withNotice } from '../notice.ts';
import { WRITERS } from '../page.ts';
import { confirmationProblem, preconditionIn, versionField } from '../version.ts';
import { consequences } from './consequences.ts';

/** Requires that the id is typed, so that a click does not delete the wrong group. */
export const deletion = formPages({
  path: '/user-groups/:user_group_id/delete',
  permissions: WRITERS,
  purpose: 'delete user groups',
  act: async ({ context, caller, request, form }) => {
    const id = userGroupIdOf(request);
    if (form.text('user_group_id') !== id)
      throw invalidField('/user_group_id', 'must be exactly the id of this user group');
    await deleteUserGroup(context, caller, id, preconditionIn(form));
    return { location: withNotice(pathTo('user-groups'), 'deleted') };
  },
  view: async (call, form, problem) => {
    const userGroup = await findUserGroup(call.context, call.caller, userGroupIdOf(call.request));
    const { providedId, name } = userGroup;
    const group = pathTo('user-groups', providedId);
    return formView(call, {
      title: `Delete ${providedId}`,
      heading: 'Delete user group',
      text: html`<p>${link(group, providedId)} (${name})</p>
${confirmationProblem('user group', problem)}
<p>Its token is no longer valid from the next request on, and its name, mapping and properties are gone, in its events too. Another user group can then have its id.</p>
${await consequences(call, userGroup, [])}`,
      action: `${group}/delete`,
      fields: html`${versionField(versionTag(userGroup))}
${textField({
  name: 'user_group_id',
  label: 'Type the id to confirm',
  value: form.text('user_group_id'),
  isRequired: true,
  problem,
})}`,
      button: 'Delete',
      isDangerous: true,
      back: group,
    });
  },
});
