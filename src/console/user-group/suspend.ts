// Suspending a group, with what it breaks, and resuming it.

import { versionTag } from '../../domain/user-group/user-group.ts';
import { userGroupIdOf } from '../../http/request/path-parameter.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import { resumeUserGroup, suspendUserGroup } from '../../operations/user-group/suspend.ts';
import type { Problem } from '../../problem.ts';
import { confirmationProblem } from '../document-version.ts';
import { actionForm, cancel, submit } from '../fields.ts';
import { html, link, pathTo } from '../html.ts';
import { withNotice } from '../notice.ts';
import { type Page, type PageCall, type View, WRITERS } from '../page.ts';
import { consequences } from './consequences.ts';
import { showAgain } from './show.ts';
import { versionField, versionOf } from './version.ts';

const shared = {
  path: '/user-groups/:user_group_id/suspend',
  permissions: WRITERS,
  purpose: 'suspend user groups',
} as const;

export const suspendForm: Page = {
  ...shared,
  method: 'GET',
  access: 'read',
  handle: (call) => suspendView(call),
};

export const suspend: Page = {
  ...shared,
  method: 'POST',
  access: 'write',
  handle: async ({ context, caller, request, form }) => {
    const id = userGroupIdOf(request);
    await suspendUserGroup(context, caller, id, { ifMatch: [versionOf(form)] });
    return { location: withNotice(pathTo('user-groups', id), 'suspended') };
  },
  retry: suspendView,
};

export const resume: Page = {
  method: 'POST',
  path: '/user-groups/:user_group_id/resume',
  permissions: WRITERS,
  purpose: 'resume user groups',
  access: 'write',
  handle: async ({ context, caller, request, form }) => {
    const id = userGroupIdOf(request);
    await resumeUserGroup(context, caller, id, { ifMatch: [versionOf(form)] });
    return { location: withNotice(pathTo('user-groups', id), 'resumed') };
  },
  retry: showAgain,
};

async function suspendView(call: PageCall, problem?: Problem): Promise<View> {
  const { context, caller, request, session } = call;
  const userGroup = await findUserGroup(context, caller, userGroupIdOf(request));
  const group = pathTo('user-groups', userGroup.providedId);
  const content = html`${versionField(versionTag(userGroup))}
<div class="actions">${submit('Suspend', 'danger')} ${cancel(group)}</div>`;
  return {
    title: `Suspend ${userGroup.providedId}`,
    main: html`<h1>Suspend user group</h1>
<p>${link(group, userGroup.providedId)}</p>
${confirmationProblem('user group', problem)}
<p>Its dashboards show an error from the next request on, until it is resumed. It keeps its token and all of its fields.</p>
${await consequences(call, userGroup, [])}
${actionForm(session, `${group}/suspend`, content)}`,
  };
}
