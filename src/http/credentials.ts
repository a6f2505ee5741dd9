// The API token of a request, from its headers. Queries nothing.

import type { IncomingMessage } from 'node:http';
import { digestOfApiToken, type TokenDigest } from '../domain/token.ts';

const AUTHORIZATION = /^token[ \t]+(\S+)[ \t]*$/i;

/** The digest of the request's API token; null if there is none or it is malformed. */
export function apiTokenDigestOf({ headers }: IncomingMessage): TokenDigest | null {
  const token = AUTHORIZATION.exec(headers.authorization ?? '')?.[1];
  return token === undefined ? null : digestOfApiToken(token);
}
