// Sessions of a browser: encrypted cookies with the API token that the person signed in with. They are stored
// nowhere else, and every request looks the API token up, so revoking it ends the session. One session is
// active; the person can switch to the others.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../domain/api-token.ts';
import { Secret } from '../../domain/secret.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { digestOfApiToken, type TokenDigest } from '../../domain/token.ts';
import type { Context } from '../../operations/context.ts';
import { type CookieCall, findCookie, removeCookie, setCookie } from './cookie.ts';
import { Sealed } from './sealed.ts';

export interface Session {
  apiToken: Secret;
  /** Part of every form, and unknown to other sites. Names the workspace and environment of the form. */
  csrfToken: string;
  createdAt: number;
}

export interface SignedIn {
  caller: Caller;
  session: Session;
}

const MAX_AGE_SECONDS = 12 * 3_600;
/** Tolerated difference of clocks: another process may have created the session. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const CSRF_BYTES = 16;
/** Hexadecimal, because random text then never looks like a token, for which logs and pages are searched. */
const CSRF_ENCODING = 'hex';
/** In another encoding, as of an earlier version, every form would have the same masked token. */
const CSRF_TOKEN = new RegExp(`^[0-9a-f]{${2 * CSRF_BYTES}}\\.`);
const NAME = 'user_group_console';
/** Names of the cookies. The first session is active. */
export const SLOTS = [NAME, `${NAME}_2`, `${NAME}_3`, `${NAME}_4`, `${NAME}_5`] as const;
const sealed = new Sealed<[apiToken: string, csrfToken: string, createdAt: number]>('console');

export function newSession(apiToken: Secret, tenant: Tenant, now: number): Session {
  const random = randomBytes(CSRF_BYTES).toString(CSRF_ENCODING);
  return { apiToken, csrfToken: `${random}.${tenantSuffix(tenant)}`, createdAt: now };
}

/** Never null: a session contains the text of a token that was valid. */
export function digestOfSession({ apiToken }: Session): TokenDigest {
  return digestOfApiToken(apiToken.reveal())!;
}

/** Whether a form with this token was opened in the workspace and environment. */
export function isFormFor(csrfToken: string, tenant: Tenant): boolean {
  return csrfToken.endsWith(`.${tenantSuffix(tenant)}`);
}

function tenantSuffix({ workspaceId, environment }: Tenant): string {
  return `${workspaceId}.${environment}`;
}

export function storeSession(call: CookieCall, session: Session, slot = 0): void {
  const { apiToken, csrfToken, createdAt } = session;
  const value = sealed.textOf(call.context.keyRing, [apiToken.reveal(), csrfToken, createdAt]);
  setCookie(call, SLOTS[slot]!, value, MAX_AGE_SECONDS);
}

export function endSession(call: CookieCall, slot = 0): void {
  removeCookie(call, SLOTS[slot]!);
}

/**
 * Returns the token for a form, masked differently each time: otherwise the length of compressed pages would
 * reveal it.
 */
export function maskedToken({ csrfToken }: Session): string {
  const { random, tenant } = splitCsrfToken(csrfToken);
  const mask = randomBytes(random.length);
  return Buffer.concat([mask, combined(random, mask)]).toString(CSRF_ENCODING) + tenant;
}

/** Whether the text is this token in masked form. */
export function isMasked(csrfToken: string, text: string): boolean {
  const expected = splitCsrfToken(csrfToken);
  const { random: bytes, tenant } = splitCsrfToken(text);
  const length = expected.random.length;
  if (bytes.length !== 2 * length || bytes.toString(CSRF_ENCODING) + tenant !== text) return false;
  const isSame = timingSafeEqual(
    combined(bytes.subarray(length), bytes.subarray(0, length)),
    expected.random,
  );
  return isSame && tenant === expected.tenant;
}

function splitCsrfToken(csrfToken: string): { random: Buffer; tenant: string } {
  const [text = ''] = csrfToken.split('.', 1);
  return { random: Buffer.from(text, CSRF_ENCODING), tenant: csrfToken.slice(text.length) };
}

function combined(bytes: Buffer, mask: Buffer): Buffer {
  return Buffer.from(bytes.map((byte, index) => byte ^ mask[index]!));
}

/** Returns the session in the slot; null without one, or if it has expired or is not from this service. */
export function requestSession(context: Context, request: FastifyRequest, slot = 0): Session | null {
  const value = findCookie(context, request, SLOTS[slot]!);
  if (value === undefined) return null;
  const opened = sealed.open(context.keyRing, value);
  if (opened === null) return null;
  const [apiToken, csrfToken, createdAt] = opened;
  if (!CSRF_TOKEN.test(csrfToken)) return null;
  const age = context.clock() - createdAt;
  if (age < -MAX_CLOCK_DIFFERENCE_MS || age >= MAX_AGE_SECONDS * 1_000) return null;
  return { apiToken: new Secret(apiToken), csrfToken, createdAt };
}

/** Returns the valid sessions of the browser by slot. */
export function requestSessions(context: Context, request: FastifyRequest): Map<number, Session> {
  const found = SLOTS.map((_, slot) => [slot, requestSession(context, request, slot)] as const);
  return new Map(found.filter((each): each is [number, Session] => each[1] !== null));
}
