// Notices after an action: a cookie that the next page at that path shows and removes. It is encrypted, bound
// to the session and valid for a minute, so a link cannot make a page claim what did not happen, and a reload
// does not repeat the claim.

import { type Html, html, NO_HTML } from '../markup/html.ts';
import type { PageCall } from '../page.ts';
import { findCookie, removeCookie, setCookie } from '../session/cookie.ts';
import { Sealed } from '../session/sealed.ts';
import { requestPath } from './browser.ts';

const NAME = 'user_group_console_done';
const MAX_AGE_SECONDS = 60;
const sealed = new Sealed<[csrfToken: string, path: string, text: string, at: number]>('console-notice');

/** Keeps the notice for the page at the location. */
export function storeNotice(call: PageCall, location: string, text: string): void {
  const { context, session } = call;
  const [path = ''] = location.split('?', 1);
  const value = sealed.textOf(context.keyRing, [session.csrfToken, path, text, context.clock()]);
  setCookie(call, NAME, value, MAX_AGE_SECONDS);
}

/** Renders the notice for this session and page, which is then forgotten; empty if there is none. */
export function shownNotice(call: PageCall): Html {
  const { context, session, request } = call;
  const value = findCookie(context, request, NAME);
  const opened = value === undefined ? null : sealed.open(context.keyRing, value);
  if (opened === null) return NO_HTML;
  const [csrfToken, path, text, at] = opened;
  const isOfPage = csrfToken === session.csrfToken && path === requestPath(request);
  if (!isOfPage || context.clock() - at >= MAX_AGE_SECONDS * 1_000) return NO_HTML;
  removeCookie(call, NAME);
  return doneNotice(text);
}

/** Says what was done. It has the focus, so that screen readers begin with it. */
export function doneNotice(text: string): Html {
  return html`<div class="notice" role="status" tabindex="-1" autofocus><p>${text}</p></div>`;
}
