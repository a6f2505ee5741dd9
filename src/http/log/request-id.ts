// The id of a request: in X-Request-Id, in the body of an error and in the log.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { redact } from '../../domain/secret.ts';

/** Ids of the usual proxies and tools: UUIDs, hexadecimal digits, words separated by punctuation. */
const ADOPTABLE = /^[\w.:=+/@-]{1,128}$/;

/** Start of the new ids of this thread. */
const THREAD = randomBytes(6).toString('base64url');
/** Length of the rest of an id: 9 random bytes. */
const REST = 12;
/** Random text for the next ids. A piece takes 24 nanoseconds, one of `takeRandomText`, which is erased, 120. */
let pool = '';
let position = 0;

/**
 * Returns the id of the caller, or of a proxy in front, if it is well-formed and does not look like a token
 * or a key; otherwise a new id: short, unique with high probability, and random, because a counter would tell
 * each caller how many requests the others send.
 */
export function requestId(message?: IncomingMessage): string {
  const sent = message?.headers['x-request-id'];
  return typeof sent === 'string' && isAdoptable(sent) ? sent : `${THREAD}${takeRest()}`;
}

function takeRest(): string {
  if (position === pool.length) {
    pool = randomBytes(9 * 1_024).toString('base64url');
    position = 0;
  }
  const start = position;
  position += REST;
  return pool.slice(start, position);
}

function isAdoptable(id: string): boolean {
  if (!ADOPTABLE.test(id)) return false;
  // Tests the id as the log would show it.
  const member = `"requestId":"${id}"`;
  return redact(member) === member;
}
