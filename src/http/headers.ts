// Headers that can be read in two ways, by this service and by a proxy before it, are refused.

import type { IncomingMessage } from 'node:http';
import { Problem } from '../problem.ts';

const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;
/** Headers of which Node keeps the first and drops the rest in silence, or joins them. */
const SINGLE_HEADERS = ['authorization', 'host', 'content-type', 'origin', 'content-encoding', 'if-match'];
const SINGLE_LENGTHS = new Set(SINGLE_HEADERS.map(({ length }) => length));

/**
 * Whether it is unsafe to say where the request ends: a version that is none, a transfer coding other than
 * chunked, or chunks in HTTP/1.0 (RFC 9112 §6.1).
 */
export function hasUnsafeFraming({ headers, httpVersion }: IncomingMessage): boolean {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return true;
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0');
}

/** Refuses headers that can be read in two ways, and requests from a browser on another origin. */
export function checkHeaders(message: IncomingMessage, allowedOrigins: readonly string[]): void {
  refuseRepeated(message.rawHeaders);
  const { host, origin } = message.headers;
  if (host === undefined && message.httpVersion === '1.1') {
    throw new Problem('invalid_request', 'A request of HTTP/1.1 needs a Host header.');
  }
  if (host !== undefined && !HOST.test(host)) {
    throw new Problem(
      'invalid_request',
      'The Host header must be a host name or address, and a port where there is one.',
    );
  }
  if (origin === undefined || allowedOrigins.includes(origin)) return;
  if (host && (origin === `http://${host}` || origin === `https://${host}`)) return;
  throw new Problem(
    'origin_not_allowed',
    'Requests from browsers on other origins are refused: an API token has no business in a browser. Call from your backend.',
  );
}

function refuseRepeated(rawHeaders: readonly string[]): void {
  const seen: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    // Most headers are told apart by their length, without a lower-case copy.
    if (!SINGLE_LENGTHS.has(rawHeaders[index]!.length)) continue;
    const name = rawHeaders[index]!.toLowerCase();
    if (!SINGLE_HEADERS.includes(name)) continue;
    if (seen.includes(name)) throw new Problem('invalid_request', `The header ${name} must not stand twice.`);
    seen.push(name);
  }
}
