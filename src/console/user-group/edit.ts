// The form that edits a group. Its button leads to the review; nothing is stored before.

import { sizeOf, versionTag } from '../../domain/user-group/user-group.ts';
import { userGroupIdOf } from '../../http/request/path-parameter.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import type { Problem } from '../../problem.ts';
import { problemSummary } from '../fields.ts';
import { formView } from '../form-pages.ts';
import { html, link, pathTo } from '../html.ts';
import { type Page, type PageCall, type View, WRITERS } from '../page.ts';
import { versionField, versionIn } from '../version.ts';
import { createView } from './create.ts';
import { fieldsOf, groupFields, readGroup, type TypedGroup, typedGroup } from './form.ts';

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
    const { context, caller, request } = call;
    const userGroup = await findUserGroup(context, caller, userGroupIdOf(request));
    await context.cpu.turn(sizeOf(userGroup));
    const config = await context.configs.of(context.store, caller);
    return editView(call, typedGroup(config, userGroup), versionTag(userGroup));
  },
};

/** The form again, after the review of what was typed. */
export const editAgain: Page = {
  ...shared,
  method: 'POST',
  handle: async (call) => {
    const { context, caller, request, form } = call;
    await context.cpu.turn(form.size);
    const config = await context.configs.of(context.store, caller);
    const fields = fieldsOf(userGroupIdOf(request), readGroup(form, config), null);
    return editView(call, typedGroup(config, fields), versionIn(form));
  },
  retry: retryEdit,
};

/** The form with what was typed. If the group is gone, the form to create it. */
export async function retryEdit(call: PageCall, problem: Problem): Promise<View> {
  const { context, caller, request, form } = call;
  const typed = readGroup(form, await context.configs.of(context.store, caller));
  if (problem.code === 'user_group_not_found')
    return createView(call, { id: userGroupIdOf(request), ...typed }, problem);
  return editView(call, typed, versionIn(form), problem);
}

function editView(call: PageCall, typed: TypedGroup, version: string, problem?: Problem): View {
  const id = userGroupIdOf(call.request);
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
