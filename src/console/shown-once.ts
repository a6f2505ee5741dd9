// A secret in the response to the action that created it, and in no other.

import type { Secret } from '../domain/secret.ts';
import { type Html, html } from './html.ts';

/** Masked, with a button that shows it; without JavaScript, as text that has to be opened. */
export function shownOnce(label: string, secret: Secret): Html {
  const text = secret.reveal();
  return html`<div class="secret" data-secret><label for="secret">${label}</label>
<input id="secret" type="password" value="${text}" readonly autocomplete="off" spellcheck="false">
<button type="button" hidden aria-pressed="false">Show</button></div>
<noscript><details><summary>Show</summary><p><code>${text}</code></p></details></noscript>`;
}
