// The API token that a request bears. Reads headers; asks nobody.

import type { IncomingMessage } from 'node:http';
import { digestOfApiToken, type TokenDigest } from '../domain/token.ts';

const AUTHORIZATION = /^token[ \t]+(\S+)[ \t]*$/i;

/** The digest of the API token that the request bears; null where it bears none that could be one. */
export function apiTokenDigestOf({ headers }: IncomingMessage): TokenDigest | null {
  const token = AUTHORIZATION.exec(headers.authorization ?? '')?.[1];
  return token === undefined ? null : digestOfApiToken(token);
}
