// The session of a browser: an encrypted cookie with the API token that the person signed in with. It is stored nowhere,
// and the API token is looked up for every request, so revoking it ends the session.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { KeyRing } from '../domain/key-ring.ts';
import { Secret } from '../domain/secret.ts';
import { cookieValues } from '../http/request/cookie.ts';
import { openSealed, sealedText } from './sealed.ts';

export interface Session {
  apiToken: Secret;
  /** Every form contains it: another site cannot know it. */
  csrfToken: string;
}

const MAX_AGE_SECONDS = 12 * 3_600;
const CSRF_BYTES = 16;
const NAME = 'user_group_console';
/** Browsers accept this name only over HTTPS, from this host and for all paths. */
const SECURE_NAME = `__Host-${NAME}`;
const OWNER = { session: 'console' } as const;

export function newSession(apiToken: Secret): Session {
  return { apiToken, csrfToken: randomBytes(CSRF_BYTES).toString('base64url') };
}

export function sessionCookie(keyRing: KeyRing, session: Session, now: number, isSecure: boolean): string {
  const text = JSON.stringify([session.apiToken.reveal(), session.csrfToken, now]);
  return cookie(sealedText(keyRing, new Secret(text), OWNER), MAX_AGE_SECONDS, isSecure);
}

export function expiredCookie(isSecure: boolean): string {
  return cookie('', 0, isSecure);
}

/** Returns null if there is no session, or it has expired, or it is not one of this service. */
export function sessionOf(
  keyRing: KeyRing,
  request: IncomingMessage,
  now: number,
  isSecure: boolean,
): Session | null {
  // A sibling domain or plain HTTP could plant the other name, and a person would work in the session of an attacker.
  const names = isSecure ? [SECURE_NAME] : [SECURE_NAME, NAME];
  const [value] = names.flatMap((name) => cookieValues(request, name));
  if (value === undefined) return null;
  const opened = openSealed(keyRing, value, OWNER);
  if (opened === null) return null;
  const [apiToken, csrfToken, createdAt] = JSON.parse(opened.reveal()) as [string, string, number];
  const age = now - createdAt;
  if (age < 0 || age >= MAX_AGE_SECONDS * 1_000) return null;
  return { apiToken: new Secret(apiToken), csrfToken };
}

/** Strict: a link on another site never acts with the session. */
function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const [name, attributes] = isSecure ? [SECURE_NAME, 'Path=/; Secure'] : [NAME, 'Path=/console'];
  return `${name}=${value}; ${attributes}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`;
}
