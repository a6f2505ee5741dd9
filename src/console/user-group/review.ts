// Review of a change before it is stored.

import {
  type SettableFields,
  type UserGroup,
  valuesLength,
  versionTag,
} from '../../domain/user-group/user-group.ts';
import { checkPolicies, mappingViolations } from '../../operations/user-group/violations.ts';
import type { Violation } from '../../problem.ts';
import { type Change, changesTable } from '../event/changes.ts';
import { actionForm, submit } from '../form/fields.ts';
import { versionIn } from '../form/version.ts';
import { buttonTo, type Html, html, NO_HTML, none, pathTo, pointerText } from '../markup/html.ts';
import { environmentConfig, type Page, type PageCall, type View, WRITERS } from '../page.ts';
import { conflictView, editButton } from './conflict.ts';
import { showRejectedEdit } from './edit.ts';
import { changedFields, differences, hiddenFields, type Submission, submittedFields } from './form.ts';
import { groupIn, groupLine } from './group.ts';
import { mergeGroup } from './merge.ts';

export const review: Page = {
  method: 'POST',
  path: '/user-groups/:user_group_id/review',
  permissions: WRITERS,
  purpose: 'update user groups',
  access: 'read',
  handle: async (call) => {
    const submission = await readSubmission(call);
    return isStale(call, submission) ? mergeView(call, submission) : reviewView(call, submission);
  },
  onRejection: showRejectedEdit,
};

/** Returns the stored group and the submitted fields. Throws `user_group_not_found` and `invalid_request`. */
export async function readSubmission(call: PageCall): Promise<Submission> {
  const { context, form } = call;
  const stored = await groupIn(call);
  await context.cpu.turn(form.size + valuesLength(stored));
  return { stored, ...(await submittedFields(call, stored.providedId)) };
}

/** Whether the group was changed after the form was opened. */
export function isStale({ form }: PageCall, { stored }: Submission): boolean {
  return versionIn(form) !== versionTag(stored);
}

/** Merges the submitted fields with later changes by others: the person decides where both changed a field. */
export async function mergeView(call: PageCall, { stored, fields, base }: Submission): Promise<View> {
  const merge = mergeGroup(base, fields, stored);
  if (merge.conflicts.length > 0) return conflictView(call, stored, merge);
  return reviewView(call, { stored, fields: merge.fields }, merge.others);
}

/** `others` are changes that others have made since the form was opened. They stay. */
export async function reviewView(
  call: PageCall,
  { stored, fields }: Pick<Submission, 'stored' | 'fields'>,
  others: readonly Change[] = [],
): Promise<View> {
  const { context, caller, session } = call;
  await checkPolicies(context, caller, stored.providedId, changedFields(stored, fields));
  const group = pathTo('user-groups', stored.providedId);
  const isSame = Object.keys(changedFields(stored, fields)).length === 0;
  const content = html`${hiddenFields(fields, stored)}
<div class="actions">${isSame ? '' : submit('Save')} ${editButton(stored, 'Edit again')} ${buttonTo(group, 'Cancel')}</div>`;
  return {
    title: `Review ${stored.providedId}`,
    heading: 'Review changes',
    main: html`${groupLine(stored)}
${othersText(others)}
${isSame ? none('Nothing differs from what is stored.') : changesOrOrder(stored, fields)}
${violationList('This violates rules that are reported but not enforced:', context.violations)}
${violationList(
  'Dashboards of this user group will show an error, because these entries of the mapping lead to no data source:',
  await danglingEntries(call, stored, fields),
)}
${actionForm(session, `${group}/save`, content)}`,
  };
}

/** Shows changes that others have made since the form was opened. */
function othersText(others: readonly Change[]): Html {
  if (others.length === 0) return NO_HTML;
  return html`<p>Others have changed this user group since you opened the form. These changes stay:</p>
${changesTable(others)}
<h2>Yours</h2>`;
}

function changesOrOrder(stored: UserGroup, fields: SettableFields): Html {
  const changes = differences(stored, fields);
  return changes.length === 0 ? html`<p>Only the order of members changes.</p>` : changesTable(changes);
}

/** Returns the entries of the mapping that lead to no data source for this group, unless a policy checks them. */
async function danglingEntries(
  call: PageCall,
  { providedId }: UserGroup,
  { mapping }: SettableFields,
): Promise<Violation[]> {
  const config = await environmentConfig(call);
  if (config.catalogue.isEmpty || config.mappingMode !== 'off') return [];
  return mappingViolations(config, { providedId, mapping });
}

function violationList(text: string, violations: readonly Violation[]): Html {
  if (violations.length === 0) return NO_HTML;
  return html`<div class="problem"><p>${text}</p>
<ul>${violations.map(({ pointer, detail }) => html`<li><code>${pointerText(pointer)}</code> ${detail}</li>`)}</ul></div>`;
}
