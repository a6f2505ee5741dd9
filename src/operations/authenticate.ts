// From the digest of an API token to the caller. The database is asked at every request, so a revoked token is
// refused from the next request on, in every process.

import { type Caller, statusOf } from '../domain/api-token.ts';
import { sameDigest, type TokenDigest } from '../domain/token.ts';
import { Problem } from '../problem.ts';
import type { Context } from './context.ts';

/** Throws `unauthenticated`, in the same words for every reason. `digest` is null where the text can be no API token. */
export async function authenticate({ store, clock }: Context, digest: TokenDigest | null): Promise<Caller> {
  const token = digest === null ? null : await store.read({ kind: 'findApiToken', digest });
  if (
    digest === null ||
    token === null ||
    !sameDigest(token.digest, digest) ||
    statusOf(token, clock()) !== 'active'
  ) {
    throw unauthenticated();
  }
  return token;
}

export function unauthenticated(): Problem {
  return new Problem(
    'unauthenticated',
    'Send the header "Authorization: Token <API_TOKEN>" with a valid API token; "user-group-service api-token create" makes one.',
  );
}
