// A group that was deleted while it was edited. What was typed can become a new group, in a form of its own: creating one
// brings neither the token nor the history back.

import { actionForm, hidden } from '../fields.ts';
import { alert, buttonTo, html, pathTo } from '../html.ts';
import type { PageCall, View } from '../page.ts';
import { AGAIN_PATH } from './create.ts';
import { lastEventsOfGroup } from './events.ts';

export async function goneView(call: PageCall, id: string): Promise<View> {
  const typed = call.form.entries.filter(([name]) => name !== 'csrf');
  return {
    title: `Deleted: ${id}`,
    main: html`<h1>Deleted in the meantime</h1>
${alert('Nothing was saved: this user group does not exist any more.')}
<h2>Last events</h2>
${await lastEventsOfGroup(call, id)}
${actionForm(
  call.session,
  AGAIN_PATH,
  html`${hidden('user_group_id', id)}${typed.map(([name, text]) => hidden(name, text))}
<p>What you typed is kept. A new user group with this id would have another token.</p>
<div class="actions"><button type="submit" class="plain">Fill in the form for a new user group</button> ${buttonTo(pathTo('user-groups'), 'Back to the list')}</div>`,
)}`,
  };
}
