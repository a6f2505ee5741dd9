// Conflict page: others changed the same fields of the group while it was being edited. Asks which value to keep.

import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { type Change, changesTable } from '../event/changes.ts';
import { lastEventsOfGroup } from '../event/last.ts';
import { actionForm, submit } from '../form/fields.ts';
import { alert, buttonTo, type Html, html, NO_HTML, pathTo } from '../markup/html.ts';
import type { PageCall, View } from '../page.ts';
import { hiddenFields, KEEP } from './form.ts';
import { groupLine } from './group.ts';
import { type GroupMerge, nameOfChange } from './merge.ts';

/** Whatever the person decides applies to the version that is stored now. */
export async function conflictView(
  call: PageCall,
  stored: UserGroup,
  { fields, conflicts, others, own }: GroupMerge,
): Promise<View> {
  const { providedId } = stored;
  const group = pathTo('user-groups', providedId);
  const content = html`${hiddenFields(fields, stored)}
${changesSection('Changed by you only', own)}
<h2>Changed by others and by you</h2>
${changesTable(conflicts, ['Stored now', 'Yours'], { name: 'Decision', cellOf: keepBox })}
<div class="actions">${submit('Overwrite with yours', 'danger')} ${editButton(stored, 'Edit yours again')} ${buttonTo(group, 'Keep what is stored')}</div>`;
  return {
    status: 412,
    title: `Conflict: ${providedId}`,
    heading: 'Changed in the meantime',
    main: html`${alert('Nothing was saved: this user group has been changed since you started to edit it. A field that only others changed stays as it is stored.')}
${groupLine(stored)}
${changesSection('Changed by others only', others)}
${actionForm(call.session, `${group}/save`, content)}
${await lastEventsOfGroup(call, providedId)}`,
  };
}

function changesSection(title: string, changes: readonly Change[]): Html {
  return changes.length === 0 ? NO_HTML : html`<h2>${title}</h2>${changesTable(changes)}`;
}

function keepBox(change: Change): Html {
  const label = `Keep the stored value of ${change.path.join(' ')}`;
  return html`<label><input type="checkbox" name="${KEEP}" value="${nameOfChange(change)}" aria-label="${label}"> Keep stored</label>`;
}

/** Second button of a form, which sends its fields to the edit page instead. */
export function editButton({ providedId }: UserGroup, text: string): Html {
  return html`<button type="submit" class="plain" formaction="${pathTo('user-groups', providedId)}/edit">${text}</button>`;
}
