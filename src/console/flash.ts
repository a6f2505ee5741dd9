// Notices after an action: a cookie that the next page at that path shows and removes. It is encrypted, bound
// to the session and valid for a minute, so a link cannot make a page claim what did not happen, and a reload
// does not repeat the claim.

import { requestPath } from './browser.ts';
import { findCookie, removeCookie, setCookie } from './cookie.ts';
import { NOTICE } from './notice.ts';
import type { PageCall } from './page.ts';
import { Sealed } from './sealed.ts';

const NAME = 'user_group_console_notice';
const MAX_AGE_SECONDS = 60;
const sealed = new Sealed<[csrfToken: string, path: string, key: string, at: number]>('console-notice');

type Call = Pick<PageCall, 'context' | 'session' | 'query' | 'request' | 'reply'>;

/** Moves the notice from the location into the cookie. Returns the location without it. */
export function storeNotice(call: Omit<Call, 'query'>, location: string): string {
  const { context, session } = call;
  const [path = '', text] = location.split('?', 2);
  const query = new URLSearchParams(text);
  const key = query.get(NOTICE);
  if (key === null) return location;
  query.delete(NOTICE);
  const value = sealed.textOf(context.keyRing, [session.csrfToken, path, key, context.clock()]);
  setCookie(call, NAME, value, MAX_AGE_SECONDS);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Puts the notice of this session and page into the query, and removes any that the address claims. */
export function takeNotice(call: Call): void {
  const { context, session, query, request } = call;
  query.delete(NOTICE);
  const value = findCookie(context, request, NAME);
  const opened = value === undefined ? null : sealed.open(context.keyRing, value);
  if (opened === null) return;
  const [csrfToken, path, key, at] = opened;
  const isOfPage = csrfToken === session.csrfToken && path === requestPath(request);
  if (!isOfPage || context.clock() - at >= MAX_AGE_SECONDS * 1_000) return;
  query.set(NOTICE, key);
  removeCookie(call, NAME);
}
