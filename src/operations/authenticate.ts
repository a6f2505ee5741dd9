// From the digest of an API token to the caller. Every request queries the database, so every process rejects a
// revoked token from the next request on.

import { type ApiToken, type Caller, statusOf } from '../domain/api-token.ts';
import { sameDigest, type TokenDigest } from '../domain/token.ts';
import { Problem } from '../problem.ts';
import type { Context } from './context.ts';

/** Throws the same `unauthenticated` for every reason. `digest` is null if the request has no well-formed API token. */
export async function authenticate(
  { store, clock, usage }: Pick<Context, 'store' | 'clock' | 'usage'>,
  digest: TokenDigest | null,
): Promise<Caller> {
  const token = digest === null ? null : await store.read({ kind: 'findApiToken', digest });
  if (digest === null || token === null || !authenticates(token, digest, clock())) throw unauthenticated();
  usage.authenticated(token);
  return token;
}

function authenticates(token: ApiToken, digest: TokenDigest, now: number): boolean {
  if (statusOf(token, now) !== 'active') return false;
  if (sameDigest(token.digest, digest)) return true;
  const { previousDigest, previousExpiresAt } = token;
  return (
    previousDigest !== null &&
    sameDigest(previousDigest, digest) &&
    previousExpiresAt !== null &&
    previousExpiresAt > now
  );
}

export function unauthenticated(): Problem {
  return new Problem(
    'unauthenticated',
    'Send the header "Authorization: Token <API_TOKEN>" with a valid API token; "user-group-service api-token create" creates one.',
  );
}
