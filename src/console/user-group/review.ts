// Review of a change before it is stored.

import { type UserGroup, valuesLength, versionTag } from '../../domain/user-group/user-group.ts';
import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import { checkPolicies } from '../../operations/user-group/violations.ts';
import type { Violation } from '../../problem.ts';
import { changesTable } from '../event/changes.ts';
import { actionForm, cancel, submit } from '../fields.ts';
import { type Html, html, link, NO_HTML, none, pathTo } from '../html.ts';
import { environmentConfig, type Page, type PageCall, type View, WRITERS } from '../page.ts';
import { versionField, versionIn } from '../version.ts';
import { conflictView, editButton } from './conflict.ts';
import { retryEdit } from './edit.ts';
import {
  changedFields,
  differences,
  type GroupFields,
  hiddenFields,
  readGroup,
  readGroupFields,
} from './form.ts';

export interface Submission {
  stored: UserGroup;
  fields: GroupFields;
}

export const review: Page = {
  method: 'POST',
  path: '/user-groups/:user_group_id/review',
  permissions: WRITERS,
  purpose: 'update user groups',
  access: 'read',
  handle: async (call) => {
    const { stored, fields } = await readSubmission(call);
    if (versionIn(call.form) !== versionTag(stored)) return conflictView(call, stored, fields);
    await checkPolicies(call.context, call.caller, stored.providedId, changedFields(stored, fields));
    return reviewView(call, stored, fields);
  },
  retry: retryEdit,
};

/** The stored group, and what was typed about it. Throws `user_group_not_found` and `invalid_request`. */
export async function readSubmission({ context, caller, request, form }: PageCall): Promise<Submission> {
  const id = userGroupIdParameter(request);
  const config = await environmentConfig({ context, caller });
  const stored = await findUserGroup(context, caller, id);
  await context.cpu.turn(form.size + valuesLength(stored));
  return { stored, fields: readGroupFields(id, readGroup(form, config), stored.properties) };
}

function reviewView({ context, session }: PageCall, stored: UserGroup, fields: GroupFields): View {
  const group = pathTo('user-groups', stored.providedId);
  const isSame = Object.keys(changedFields(stored, fields)).length === 0;
  const content = html`${versionField(versionTag(stored))}
${hiddenFields(fields)}
<div class="actions">${isSame ? '' : submit('Save')} ${editButton(stored, 'Edit again')} ${cancel(group)}</div>`;
  return {
    title: `Review ${stored.providedId}`,
    main: html`<h1>Review changes</h1>
<p>${link(group, stored.providedId)}</p>
${isSame ? none('Nothing differs from what is stored.') : changesOrOrder(stored, fields)}
${violationList(context.violations)}
${actionForm(session, `${group}/save`, content)}`,
  };
}

function changesOrOrder(stored: UserGroup, fields: GroupFields): Html {
  const changes = differences(stored, fields);
  return changes.length === 0 ? html`<p>Only the order of members changes.</p>` : changesTable(changes);
}

/** Violations of rules that are reported but not enforced. */
function violationList(violations: readonly Violation[]): Html {
  if (violations.length === 0) return NO_HTML;
  return html`<div class="problem"><p>This violates rules that are reported, and not enforced:</p>
<ul>${violations.map(({ pointer, detail }) => html`<li><code>${pointer}</code> ${detail}</li>`)}</ul></div>`;
}
