// Suspending a group, with what it breaks, and resuming it.

import { versionTag } from '../../domain/user-group/user-group.ts';
import { userGroupIdOf } from '../../http/request/path-parameter.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import { resumeUserGroup, suspendUserGroup } from '../../operations/user-group/suspend.ts';
import { formPages, formView } from '../form-pages.ts';
import { html, link, pathTo } from '../html.ts';
import { withNotice } from '../notice.ts';
import { type Page, WRITERS } from '../page.ts';
import { confirmationProblem, preconditionIn, versionField } from '../version.ts';
import { consequences } from './consequences.ts';
import { showAgain } from './show.ts';

export const suspension = formPages({
  path: '/user-groups/:user_group_id/suspend',
  permissions: WRITERS,
  purpose: 'suspend user groups',
  act: async ({ context, caller, request, form }) => {
    const id = userGroupIdOf(request);
    await suspendUserGroup(context, caller, id, preconditionIn(form));
    return { location: withNotice(pathTo('user-groups', id), 'suspended') };
  },
  view: async (call, _form, problem) => {
    const userGroup = await findUserGroup(call.context, call.caller, userGroupIdOf(call.request));
    const { providedId } = userGroup;
    const group = pathTo('user-groups', providedId);
    return formView(call, {
      title: `Suspend ${providedId}`,
      heading: 'Suspend user group',
      text: html`<p>${link(group, providedId)}</p>
${confirmationProblem('user group', problem)}
<p>Its dashboards show an error from the next request on, until it is resumed. It keeps its token and all of its fields.</p>
${await consequences(call, userGroup, [])}`,
      action: `${group}/suspend`,
      fields: versionField(versionTag(userGroup)),
      button: 'Suspend',
      isDangerous: true,
      back: group,
    });
  },
});

export const resume: Page = {
  method: 'POST',
  path: '/user-groups/:user_group_id/resume',
  permissions: WRITERS,
  purpose: 'resume user groups',
  access: 'write',
  handle: async ({ context, caller, request, form }) => {
    const id = userGroupIdOf(request);
    await resumeUserGroup(context, caller, id, preconditionIn(form));
    return { location: withNotice(pathTo('user-groups', id), 'resumed') };
  },
  retry: showAgain,
};
