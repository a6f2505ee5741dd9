// Sessions of a browser: encrypted cookies with the API token that the person signed in with. They are stored
// nowhere else, and every request looks the API token up, so revoking it ends the session. One session is
// active; the person can switch to the others.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Tenant } from '../domain/event/event.ts';
import type { KeyRing } from '../domain/key-ring.ts';
import { Secret } from '../domain/secret.ts';
import { consoleCookie, consoleCookieValue } from './cookie.ts';
import { Sealed } from './sealed.ts';

export interface Session {
  apiToken: Secret;
  /** Part of every form, and unknown to other sites. Names the workspace and environment of the form. */
  csrfToken: string;
  createdAt: number;
}

const MAX_AGE_SECONDS = 12 * 3_600;
/** Tolerated difference of clocks: another process may have created the session. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const CSRF_BYTES = 16;
/** Hexadecimal, because random text then never looks like a token, for which logs and pages are searched. */
const CSRF_ENCODING = 'hex';
const NAME = 'user_group_console';
/** Names of the cookies. The first session is active. */
export const SLOTS = [NAME, `${NAME}_2`, `${NAME}_3`, `${NAME}_4`, `${NAME}_5`] as const;
const sealed = new Sealed<[apiToken: string, csrfToken: string, createdAt: number]>('console');

export function newSession(apiToken: Secret, tenant: Tenant, now: number): Session {
  const random = randomBytes(CSRF_BYTES).toString(CSRF_ENCODING);
  return { apiToken, csrfToken: `${random}.${tenantSuffix(tenant)}`, createdAt: now };
}

/** Whether a form with this token was opened in the workspace and environment. */
export function isFormFor(csrfToken: string, tenant: Tenant): boolean {
  return csrfToken.endsWith(`.${tenantSuffix(tenant)}`);
}

function tenantSuffix({ workspaceId, environment }: Tenant): string {
  return `${workspaceId}.${environment}`;
}

export function sessionCookie(keyRing: KeyRing, session: Session, isSecure: boolean, slot = 0): string {
  const { apiToken, csrfToken, createdAt } = session;
  const value = sealed.textOf(keyRing, [apiToken.reveal(), csrfToken, createdAt]);
  return consoleCookie(SLOTS[slot]!, value, MAX_AGE_SECONDS, isSecure);
}

export function expiredCookie(isSecure: boolean, slot = 0): string {
  return consoleCookie(SLOTS[slot]!, '', 0, isSecure);
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

/** Returns null without a session, or if it has expired or is not from this service. */
export function readSession(
  keyRing: KeyRing,
  request: IncomingMessage,
  now: number,
  isSecure: boolean,
  slot: number,
): Session | null {
  const value = consoleCookieValue(request, SLOTS[slot]!, isSecure);
  if (value === undefined) return null;
  const opened = sealed.open(keyRing, value);
  if (opened === null) return null;
  const [apiToken, csrfToken, createdAt] = opened;
  const age = now - createdAt;
  if (age < -MAX_CLOCK_DIFFERENCE_MS || age >= MAX_AGE_SECONDS * 1_000) return null;
  return { apiToken: new Secret(apiToken), csrfToken, createdAt };
}
