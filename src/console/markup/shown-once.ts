// Shows a secret in the response to the action that created it, and in no other.

import type { Secret } from '../../domain/secret.ts';
import type { View } from '../page.ts';
import { doneNotice } from '../request/notice.ts';
import { buttonTo, copyButton, type Html, html, NO_HTML } from './html.ts';

/** Masks the secret, with a button that shows it; without JavaScript, behind a summary to open. */
export function shownOnce(label: string, secret: Secret): Html {
  const text = secret.reveal();
  return html`<div class="secret" data-secret><label for="secret">${label}</label>
<input id="secret" type="password" value="${text}" readonly autocomplete="off" spellcheck="false">
<button type="button" hidden>Show</button>${copyButton(text, label)}</div>
<noscript><details><summary>Show</summary><p><code>${text}</code></p></details></noscript>`;
}

/** Returns the page after an action that created a secret; its button leads to `next`. */
export function issuedView(
  title: string,
  done: string,
  { label, secret, more = NO_HTML, next }: { label: string; secret: Secret; more?: Html; next: string },
): View {
  return {
    title,
    main: html`${doneNotice(`${done} Store it where it is used: it is not shown again.`)}
${shownOnce(label, secret)}
${more}
<p class="actions">${buttonTo(next, 'Continue', 'primary')}</p>`,
  };
}
