// Facts about a request that the browser states: its address, and the site that it comes from.

import type { FastifyRequest } from 'fastify';
import { encodedQuery } from '../../http/request/query.ts';
import { Problem } from '../../problem.ts';

export function queryParameters({ url }: FastifyRequest): URLSearchParams {
  return new URLSearchParams(encodedQuery(url));
}

/** Matches most of a user group token or API token, or a JWT from its first dot: linear time. */
const TOKEN = /ug[ta]_[0-9A-Za-z]{16}|\.(?<=eyJ[\w-]{8,}\.)eyJ[\w-]{8,}\./;

/** Tokens belong neither in addresses, which histories and logs keep, nor on pages. */
export function hasToken(text: string): boolean {
  return TOKEN.test(text);
}

export function requestPath({ url }: FastifyRequest): string {
  return url.split('?', 1)[0]!;
}

const HOME = '/console/user-groups';

/** Returns the path of the console to open: never another site, nor a path that contains a token. */
export function nextPath(text: string, otherwise = HOME): string {
  if (hasToken(text)) return otherwise;
  const url = URL.parse(text, 'http://console');
  if (url === null || url.host !== 'console' || !url.pathname.startsWith('/console/')) return otherwise;
  return /^\/console\/(?:sign-|sessions)/.test(url.pathname) ? otherwise : url.pathname + url.search;
}

/** Returns the path of the page with the link or the form that led to this request. */
export function pageBefore({ headers }: FastifyRequest, otherwise?: string): string {
  const before = URL.parse(headers.referer ?? '');
  return nextPath(before === null ? '' : before.pathname + before.search, otherwise);
}

/** Whether the browser may have a session that it did not send because it followed a link on another site. */
export function mayWithholdSession({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'cross-site';
}

/** Whether the browser says that the form is from this site. The server has already refused foreign origins. */
export function isFromThisSite({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined ? headers.origin !== undefined : site === 'same-origin';
}

/** Throws `origin_not_allowed`. A request without a session has no CSRF token, so the browser must state the origin. */
export function refuseOtherSites(request: FastifyRequest): void {
  if (isFromThisSite(request)) return;
  throw new Problem(
    'origin_not_allowed',
    'Sign in on the page of the console itself: the request names no origin, or that of another site.',
  );
}
