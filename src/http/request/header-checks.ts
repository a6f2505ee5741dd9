// Rejects headers that this service and a proxy in front of it could interpret differently.

import type { IncomingMessage } from 'node:http';
import { Problem } from '../../problem.ts';

const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;
/** The single headers that a proxy sets in forward authentication; the viewer chooses the others. */
const HEADERS_OF_PROXY = ['authorization', 'host'];
/** Headers of which Node silently keeps only the first value, or joins the values. */
const SINGLE_HEADERS = [
  ...HEADERS_OF_PROXY,
  'content-type',
  'origin',
  'content-encoding',
  'if-match',
  'if-none-match',
];
const SINGLE_LENGTHS = new Set(SINGLE_HEADERS.map(({ length }) => length));

/**
 * Whether the end of the request is ambiguous: an unknown HTTP version, a transfer coding other than chunked,
 * or chunked in HTTP/1.0 (RFC 9112 §6.1).
 */
export function hasUnsafeFraming({ headers, httpVersion }: IncomingMessage): boolean {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return true;
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0');
}

/** Throws `invalid_request` for ambiguous headers. */
export function checkHeaders(message: IncomingMessage, isForwardAuth: () => boolean): void {
  refuseRepeated(message.rawHeaders, isForwardAuth);
  const { host } = message.headers;
  if (host === undefined && message.httpVersion === '1.1') {
    throw new Problem('invalid_request', 'An HTTP/1.1 request requires a Host header.');
  }
  if (host !== undefined && !HOST.test(host)) {
    throw new Problem(
      'invalid_request',
      'The Host header must be a host name or address, with an optional port.',
    );
  }
}

/** Throws `origin_not_allowed` for browsers on other origins. */
export function checkOrigin(
  { headers }: Pick<IncomingMessage, 'headers'>,
  allowedOrigins: readonly string[],
): void {
  const { host, origin } = headers;
  if (origin === undefined || allowedOrigins.includes(origin)) return;
  if (host && (origin === `http://${host}` || origin === `https://${host}`)) return;
  throw new Problem(
    'origin_not_allowed',
    'Requests from browsers on other origins are rejected: an API token does not belong in a browser. Call from your backend. If the page is of this service, a proxy has replaced the Host header: let it pass the header on unchanged.',
  );
}

function refuseRepeated(rawHeaders: readonly string[], isForwardAuth: () => boolean): void {
  const seen: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    // The length rules out most headers without a lower-case copy.
    if (!SINGLE_LENGTHS.has(rawHeaders[index]!.length)) continue;
    const name = rawHeaders[index]!.toLowerCase();
    if (!SINGLE_HEADERS.includes(name)) continue;
    if (seen.includes(name) && (HEADERS_OF_PROXY.includes(name) || !isForwardAuth()))
      throw new Problem('invalid_request', `Duplicate header ${name}.`);
    seen.push(name);
  }
}
