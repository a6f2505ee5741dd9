// From the digest of an API token to the caller. Every request queries the database, so every process rejects a
// revoked token from the next request on.

import { type ApiToken, type Caller, type FoundApiToken, statusOf } from '../domain/api-token.ts';
import { sameDigest, type TokenDigest } from '../domain/token.ts';
import { Problem } from '../problem.ts';
import type { Context } from './context.ts';

/** Throws the same `unauthenticated` for every reason. `digest` is null if the request has no well-formed API token. */
export async function authenticate(
  { store, clock, usage }: Pick<Context, 'store' | 'clock' | 'usage'>,
  digest: TokenDigest | null,
): Promise<Caller> {
  const token = digest === null ? null : await findActiveApiToken({ store, clock }, digest);
  if (token === null) throw unauthenticated();
  usage.authenticated(token);
  return token;
}

/** Returns null if no request with this API token would be accepted. */
export async function findActiveApiToken(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  digest: TokenDigest,
): Promise<FoundApiToken | null> {
  const token = await store.read({ kind: 'findApiToken', digest });
  return token !== null && authenticates(token, digest, clock()) ? token : null;
}

/** Whether the text with this digest authenticates as the token. */
export function authenticates(token: ApiToken, digest: TokenDigest, now: number): boolean {
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
