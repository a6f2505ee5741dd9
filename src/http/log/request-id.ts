// The id of a request: in X-Request-Id, in the body of an error and in the log.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { redact } from '../../domain/secret.ts';

/** Ids of the usual proxies and tools: UUIDs, hexadecimal digits, words separated by punctuation. */
const ADOPTABLE = /^[\w.:=+/@-]{1,128}$/;

/**
 * Returns the id of the caller, or of a proxy in front, if it is well-formed and does not look like a token
 * or a key; otherwise a new id: short, cheap and unique with high probability, a random prefix per process
 * and a counter.
 */
export function requestIds(): (message?: IncomingMessage) => string {
  const prefix = randomBytes(6).toString('base64url');
  let counter = 0;
  return (message) => {
    const sent = message?.headers['x-request-id'];
    if (typeof sent === 'string' && isAdoptable(sent)) return sent;
    return `${prefix}-${(++counter).toString(36)}`;
  };
}

function isAdoptable(id: string): boolean {
  if (!ADOPTABLE.test(id)) return false;
  // Tests the id as the log would show it.
  const member = `"requestId":"${id}"`;
  return redact(member) === member;
}
