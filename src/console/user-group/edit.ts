// Form that edits a group. Its button leads to the review; nothing is stored before that.

import { type SettableFields, type UserGroup, valuesLength } from '../../domain/user-group/user-group.ts';
import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import type { Problem } from '../../problem.ts';
import { formView } from '../form/form-pages.ts';
import { type Opened, openedFields, openedIn } from '../form/version.ts';
import { html, pathTo, userGroupLink } from '../markup/html.ts';
import { type Page, type PageCall, type View, WRITERS } from '../page.ts';
import {
  groupFields,
  modeButton,
  openedGroup,
  readGroup,
  submittedFields,
  type TypedGroup,
  typedGroup,
} from './form.ts';
import { goneView } from './gone.ts';
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
    const stored = await groupIn(call);
    return openedView(call, stored, stored);
  },
};

/** Shows the form of the stored group with these fields in it; `problem` is why they cannot be saved. */
export async function openedView(
  call: PageCall,
  stored: UserGroup,
  fields: SettableFields,
  problem?: Problem,
): Promise<View> {
  await call.context.cpu.turn(valuesLength(stored));
  return editView(call, await typedGroup(call, fields), openedGroup(stored), problem);
}

/** Shows the form again, after the review. */
export const editAgain: Page = {
  ...shared,
  method: 'POST',
  handle: async (call) => {
    const { context, request, form } = call;
    await context.cpu.turn(form.size);
    const { fields } = await submittedFields(call, userGroupIdParameter(request));
    return editView(call, await typedGroup(call, fields), openedIn(form));
  },
  onRejection: showRejectedEdit,
};

/** Shows the form with what was typed or, if the group is gone, the page that keeps it. */
export async function showRejectedEdit(call: PageCall, problem: Problem): Promise<View> {
  const { request, form } = call;
  if (problem.code === 'user_group_not_found') return goneView(call, userGroupIdParameter(request));
  return editView(call, await readGroup(call), openedIn(form), problem);
}

async function editView(call: PageCall, typed: TypedGroup, opened: Opened, problem?: Problem): Promise<View> {
  const id = userGroupIdParameter(call.request);
  const group = pathTo('user-groups', id);
  return formView(call, `${group}/review`, problem, {
    title: `Edit ${id}`,
    heading: 'Edit user group',
    subject: html`<p>${userGroupLink(id)}</p>`,
    fields: html`${openedFields(opened)}
${await groupFields(call, typed, id, problem)}`,
    button: 'Review changes',
    more: modeButton(typed, `${group}/edit`),
  });
}
