// Conflict page: the group changed while it was being edited. Shows both versions and asks which one to keep.

import { type UserGroup, versionTag } from '../../domain/user-group/user-group.ts';
import { changesTable } from '../event/changes.ts';
import { lastEvents } from '../event/last.ts';
import { actionForm, submit } from '../fields.ts';
import { alert, buttonTo, type Html, html, link, none, pathTo } from '../html.ts';
import type { PageCall, View } from '../page.ts';
import { versionField } from '../version.ts';
import { differences, type GroupFields, hiddenFields } from './form.ts';

const EVENTS = 3;

/** `fields` is what the person typed. Whatever they decide is about the version that is stored now. */
export async function conflictView(call: PageCall, stored: UserGroup, fields: GroupFields): Promise<View> {
  const { providedId } = stored;
  const group = pathTo('user-groups', providedId);
  const changes = differences(stored, fields);
  const content = html`${versionField(versionTag(stored))}
${hiddenFields(fields)}
<div class="actions">${submit('Overwrite with yours', 'danger')} ${editButton(stored, 'Edit yours again')} ${buttonTo(group, 'Keep what is stored')}</div>`;
  return {
    status: 412,
    title: `Conflict: ${providedId}`,
    main: html`<h1>Changed in the meantime</h1>
${alert('Nothing was saved: this user group has been changed since you started to edit it.')}
<p>${link(group, providedId)}</p>
<h2>What differs</h2>
${changes.length === 0 ? none('Nothing: what is stored now is what you typed.') : changesTable(changes, ['Stored now', 'Yours'])}
<h2>Last events</h2>
${await lastEvents(call, providedId, EVENTS)}
${actionForm(call.session, `${group}/save`, content)}`,
  };
}

/** Beside another button of the form, which has the fields. */
export function editButton({ providedId }: UserGroup, text: string): Html {
  return html`<button type="submit" class="plain" formaction="${pathTo('user-groups', providedId)}/edit">${text}</button>`;
}
