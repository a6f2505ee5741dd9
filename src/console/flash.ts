// Notices after an action: a cookie that the next page of that path shows and removes. It is encrypted with the session
// and valid for a minute, so a link cannot make a page claim what did not happen, and a reload does not claim it again.

import type { KeyRing } from '../domain/key-ring.ts';
import { isSecure, requestPath } from './browser.ts';
import { consoleCookie, consoleCookieValue } from './cookie.ts';
import { NOTICE } from './notice.ts';
import type { PageCall } from './page.ts';
import { Sealed } from './sealed.ts';

const NAME = 'user_group_console_notice';
const MAX_AGE_SECONDS = 60;
const sealed = new Sealed<[csrfToken: string, path: string, key: string, at: number]>('console-notice');

type Call = Pick<PageCall, 'context' | 'session' | 'query' | 'request' | 'reply'>;

/** Returns the location without its notice, which goes into the cookie. */
export function storeNotice(
  { context, session, request, reply }: Omit<Call, 'query'>,
  location: string,
): string {
  const [path = '', text] = location.split('?', 2);
  const query = new URLSearchParams(text);
  const key = query.get(NOTICE);
  if (key === null) return location;
  query.delete(NOTICE);
  const value = sealed.textOf(context.keyRing, [session.csrfToken, path, key, context.clock()]);
  reply.header('set-cookie', consoleCookie(NAME, value, MAX_AGE_SECONDS, isSecure(context, request)));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Puts the notice of this page into the query, and removes any that the address claims. */
export function takeNotice({ context, session, query, request, reply }: Call): void {
  query.delete(NOTICE);
  const secure = isSecure(context, request);
  const value = consoleCookieValue(request.raw, NAME, secure);
  const key =
    value &&
    openNoticeKey(context.keyRing, value, [session.csrfToken, requestPath(request)], context.clock());
  if (!key) return;
  query.set(NOTICE, key);
  reply.header('set-cookie', consoleCookie(NAME, '', 0, secure));
}

/** Returns null if the notice is of another session or page, or too old. */
function openNoticeKey(
  keyRing: KeyRing,
  value: string,
  expected: readonly string[],
  now: number,
): string | null {
  const opened = sealed.open(keyRing, value);
  if (opened === null) return null;
  const [csrfToken, path, key, at] = opened;
  const isExpected = csrfToken === expected[0] && path === expected[1];
  return isExpected && now - at < MAX_AGE_SECONDS * 1_000 ? key : null;
}
