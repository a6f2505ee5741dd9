// What the headers of a request say about who sends it. Reads headers; asks nobody.

import type { IncomingMessage } from 'node:http';
import { digestOfApiToken, type TokenDigest } from '../domain/token.ts';
import { Problem } from '../problem.ts';

const AUTHORIZATION = /^token[ \t]+(\S+)[ \t]*$/i;
/** Headers of which Node keeps the first and drops the rest in silence, or joins them. */
const SINGLE_HEADERS = ['authorization', 'host', 'content-type', 'origin', 'content-encoding', 'if-match'];
const SINGLE_LENGTHS = new Set(SINGLE_HEADERS.map(({ length }) => length));

/** The digest of the API token that the request bears; null where it bears none that could be one. */
export function apiTokenDigestOf({ headers }: IncomingMessage): TokenDigest | null {
  const token = AUTHORIZATION.exec(headers.authorization ?? '')?.[1];
  return token === undefined ? null : digestOfApiToken(token);
}

/** Refuses headers that can be read in two ways, and requests from a browser on another origin. */
export function checkHeaders(message: IncomingMessage, allowedOrigins: readonly string[]): void {
  refuseRepeated(message.rawHeaders);
  const { host, origin } = message.headers;
  if (host === undefined && message.httpVersion === '1.1') {
    throw new Problem('invalid_request', 'A request of HTTP/1.1 needs a Host header.');
  }
  if (origin === undefined || allowedOrigins.includes(origin)) return;
  if (origin === `http://${host}` || origin === `https://${host}`) return;
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
