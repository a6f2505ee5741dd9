// The cookies of the console. Over HTTPS their names have the prefix `__Host-`, which browsers accept only
// from this host, over HTTPS and for all paths.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieValues } from '../../http/request/cookie.ts';
import type { Context } from '../../operations/context.ts';

export interface CookieCall {
  context: Context;
  request: FastifyRequest;
  reply: FastifyReply;
}

/**
 * Whether the browser uses HTTPS, as far as this process knows. Each of several proxies may append the scheme
 * that it was called with, so the first one is that of the browser.
 */
function isSecure({ publicUrl }: Context, { headers }: FastifyRequest): boolean {
  return publicUrl.startsWith('https:') || /^https(?:\s*,|$)/.test(String(headers['x-forwarded-proto']));
}

/** Strict: a link on another site never acts with the session. */
export function setCookie(
  { context, request, reply }: CookieCall,
  name: string,
  value: string,
  maxAgeSeconds: number,
): void {
  const [prefix, scope] = isSecure(context, request) ? ['__Host-', 'Path=/; Secure'] : ['', 'Path=/console'];
  reply.header(
    'set-cookie',
    `${prefix}${name}=${value}; ${scope}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`,
  );
}

export function removeCookie(call: CookieCall, name: string): void {
  setCookie(call, name, '', 0);
}

/**
 * Returns undefined if the cookie is absent. Over HTTPS only the name with the prefix counts: a sibling
 * domain or plain HTTP could plant the other one, and the person would work in the session of an attacker.
 */
export function findCookie(context: Context, request: FastifyRequest, name: string): string | undefined {
  const [value] = cookieValues(request.raw, `__Host-${name}`);
  return value ?? (isSecure(context, request) ? undefined : cookieValues(request.raw, name)[0]);
}
