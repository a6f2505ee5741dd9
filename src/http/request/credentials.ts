// The API token of a request, from its headers. Queries nothing.

import type { IncomingMessage } from 'node:http';
import { digestOfApiToken, type TokenDigest } from '../../domain/token.ts';
import type { Protocol } from '../protocol.ts';

const TOKEN = /^token[ \t]+(\S+)[ \t]*$/i;
const BEARER = /^bearer[ \t]+(\S+)[ \t]*$/i;
const BASIC = /^basic[ \t]+([0-9A-Za-z+/]+=*)[ \t]*$/i;

/** Returns the digest of the request's API token; null if there is none or it is malformed. */
export function presentedTokenDigest({ headers }: IncomingMessage, protocol?: Protocol): TokenDigest | null {
  const { authorization = '' } = headers;
  let token = TOKEN.exec(authorization)?.[1] ?? bearerToken(authorization);
  if (protocol === 'oauth') token ??= basicPassword(authorization);
  return token === undefined ? null : digestOfApiToken(token);
}

export function bearerToken(authorization: string): string | undefined {
  return BEARER.exec(authorization)?.[1];
}

/** Returns the password of Basic, form-encoded as OAuth requires (RFC 6749 §2.3.1). Accepts any user name. */
function basicPassword(authorization: string): string | undefined {
  const [, base64] = BASIC.exec(authorization) ?? [];
  if (base64 === undefined) return undefined;
  const credentials = Buffer.from(base64, 'base64').toString();
  const colon = credentials.indexOf(':');
  try {
    return colon === -1 ? undefined : decodeURIComponent(credentials.slice(colon + 1));
  } catch {
    return undefined;
  }
}
