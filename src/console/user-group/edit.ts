// The form that edits a group. Its button leads to the review; nothing is stored before.

import { valuesLength, versionTag } from '../../domain/user-group/user-group.ts';
import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import type { Problem } from '../../problem.ts';
import { problemSummary } from '../fields.ts';
import { formView } from '../form-pages.ts';
import { html, link, pathTo } from '../html.ts';
import { environmentConfig, type Page, type PageCall, type View, WRITERS } from '../page.ts';
import { versionField, versionIn } from '../version.ts';
import { createView } from './create.ts';
import { groupFields, readGroup, readGroupFields, type TypedGroup, typedGroup } from './form.ts';
import { groupIn } from './group.ts';

const shared = {
  path: '/user-groups/:user_group_id/edit',
  permissions: WRITERS,
  purpose: 'update user groups',
  access: 'read',
} as const;

export const edit: Page = {
  ...shared,
  method: 'GET',
  handle: async (call) => {
    const userGroup = await groupIn(call);
    await call.context.cpu.turn(valuesLength(userGroup));
    return editView(call, typedGroup(await environmentConfig(call), userGroup), versionTag(userGroup));
  },
};

/** The form again, after the review of what was typed. */
export const editAgain: Page = {
  ...shared,
  method: 'POST',
  handle: async (call) => {
    const { context, request, form } = call;
    await context.cpu.turn(form.size);
    const config = await environmentConfig(call);
    const fields = readGroupFields(userGroupIdParameter(request), readGroup(form, config), null);
    return editView(call, typedGroup(config, fields), versionIn(form));
  },
  retry: retryEdit,
};

/** The form with what was typed. If the group is gone, the form to create it. */
export async function retryEdit(call: PageCall, problem: Problem): Promise<View> {
  const { request, form } = call;
  const typed = readGroup(form, await environmentConfig(call));
  if (problem.code === 'user_group_not_found')
    return createView(call, { id: userGroupIdParameter(request), ...typed }, problem);
  return editView(call, typed, versionIn(form), problem);
}

function editView(call: PageCall, typed: TypedGroup, version: string, problem?: Problem): View {
  const id = userGroupIdParameter(call.request);
  const group = pathTo('user-groups', id);
  return formView(call, {
    title: `Edit ${id}`,
    heading: 'Edit user group',
    text: html`<p>${link(group, id)}</p>
${problemSummary(problem)}`,
    action: `${group}/review`,
    fields: html`${versionField(version)}
${groupFields(typed, problem)}`,
    button: 'Review changes',
    back: group,
  });
}
