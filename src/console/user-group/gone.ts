// Page of a group that was deleted or renamed while it was edited. What was typed is kept. A renamed group is
// edited under its new id. A deleted one can only become a new group, in the form for that: a new group has
// neither the token nor the history of the old one.

import { findLastRename, newestEnd } from '../../operations/user-group/history.ts';
import { lastEventsOfGroup } from '../event/last.ts';
import { actionForm, hidden, submit } from '../form/fields.ts';
import { versionIn } from '../form/version.ts';
import { alert, buttonTo, type Html, html, pathTo, userGroupLink } from '../markup/html.ts';
import type { PageCall, View } from '../page.ts';
import { AGAIN_PATH } from './create.ts';

export async function goneView(call: PageCall, id: string): Promise<View> {
  const { context, caller, form } = call;
  const rename = await findLastRename(context.store, caller, newestEnd(id));
  // Otherwise another group had the id before.
  const isRenamed = rename?.direction === 'to' && versionIn(form).startsWith(`${rename.teamId}-`);
  return isRenamed ? renamedView(call, id, rename.otherId) : deletedView(call, id);
}

async function deletedView(call: PageCall, id: string): Promise<View> {
  return {
    title: `Deleted: ${id}`,
    heading: 'Deleted in the meantime',
    main: html`${alert('Nothing was saved: this user group no longer exists.')}
${await lastEventsOfGroup(call, id)}
${typedForm(
  call,
  AGAIN_PATH,
  html`${hidden('user_group_id', id)}
<p>What you typed is kept. A new user group with this id would have another token.</p>`,
  'Fill in the form for a new user group',
)}`,
  };
}

function renamedView(call: PageCall, id: string, newId: string): View {
  const group = pathTo('user-groups', newId);
  return {
    title: `Renamed: ${id}`,
    heading: 'Renamed in the meantime',
    main: html`${alert('Nothing was saved: this user group has another id now.', html`<p>${userGroupLink(newId)}</p>`)}
${typedForm(call, `${group}/edit`, html`<p>What you typed is kept.</p>`, 'Edit it with what you typed')}`,
  };
}

/** Passes what was typed on to another form. */
function typedForm({ session, form }: PageCall, path: string, content: Html, button: string): Html {
  const typed = form.entries.filter(([name]) => name !== 'csrf');
  return actionForm(
    session,
    path,
    html`${typed.map(([name, text]) => hidden(name, text))}${content}
<div class="actions">${submit(button, 'plain')} ${buttonTo(pathTo('user-groups'), 'Back to the list')}</div>`,
  );
}
