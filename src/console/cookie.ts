// The cookies of the console. Over HTTPS their names have the prefix `__Host-`, which browsers accept only
// from this host, over HTTPS and for all paths.

import type { IncomingMessage } from 'node:http';
import { cookieValues } from '../http/request/cookie.ts';

function nameOfCookie(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name;
}

/** Strict: a link on another site never acts with the session. */
export function consoleCookie(name: string, value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const attributes = isSecure ? 'Path=/; Secure' : 'Path=/console';
  return `${nameOfCookie(name, isSecure)}=${value}; ${attributes}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`;
}

/**
 * Returns undefined if the cookie is absent. Over HTTPS only the name with the prefix counts: a sibling
 * domain or plain HTTP could plant the other one, and the person would work in the session of an attacker.
 */
export function consoleCookieValue(
  request: IncomingMessage,
  name: string,
  isSecure: boolean,
): string | undefined {
  const names = isSecure ? [nameOfCookie(name, true)] : [nameOfCookie(name, true), name];
  return names.flatMap((each) => cookieValues(request, each))[0];
}
