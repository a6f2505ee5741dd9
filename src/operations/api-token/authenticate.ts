// Authenticates a caller by the digest of its API token. Every request queries the database, so every process
// rejects a revoked token from the next request on.

import { type ApiToken, apiTokenStatus, type Caller, type FoundApiToken } from '../../domain/api-token.ts';
import { sameDigest, type TokenDigest } from '../../domain/token.ts';
import { Problem } from '../../problem.ts';
import type { Context } from '../context.ts';

export const authenticationFailures = ['missing', 'unknown', 'expired', 'revoked'] as const;
/** Reason why authentication failed; only for the operator. */
export type AuthenticationFailure = (typeof authenticationFailures)[number];

export class Unauthenticated extends Problem {
  readonly reason: AuthenticationFailure;

  constructor(reason: AuthenticationFailure) {
    super(
      'unauthenticated',
      'Send the header "Authorization: Token <API_TOKEN>" with a valid API token; "user-group-service api-token create" creates one.',
    );
    this.reason = reason;
  }
}

/**
 * Returns why authentication failed, also if `problem` replaces the original one; null if it did not fail.
 */
export function authenticationFailure(problem: Problem): AuthenticationFailure | null {
  const { cause } = problem;
  if (problem instanceof Unauthenticated) return problem.reason;
  return cause instanceof Unauthenticated ? cause.reason : null;
}

/**
 * Throws `Unauthenticated`, with the same message for every reason. `digest` is null if the request has no well-formed
 * API token.
 */
export async function authenticate(
  { store, clock, lastUse }: Pick<Context, 'store' | 'clock' | 'lastUse'>,
  digest: TokenDigest | null,
): Promise<Caller> {
  if (digest === null) throw new Unauthenticated('missing');
  const token = await store.read({ kind: 'findApiToken', digest });
  if (token === null) throw new Unauthenticated('unknown');
  const now = clock();
  const failure = tokenFailure(token, digest, now);
  if (failure !== null) throw new Unauthenticated(failure);
  lastUse.authenticated(token, now);
  return token;
}

/** Returns the API token; null if no request with it would be accepted. `digest` is as for `authenticate`. */
export async function findActiveApiToken(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  digest: TokenDigest | null,
): Promise<FoundApiToken | null> {
  if (digest === null) return null;
  const token = await store.read({ kind: 'findApiToken', digest });
  return token !== null && authenticates(token, digest, clock()) ? token : null;
}

/** Whether the text with this digest is valid for the token. */
export function authenticates(token: ApiToken, digest: TokenDigest, now: number): boolean {
  return tokenFailure(token, digest, now) === null;
}

function tokenFailure(token: ApiToken, digest: TokenDigest, now: number): AuthenticationFailure | null {
  const status = apiTokenStatus(token, now);
  if (status !== 'active') return status;
  if (sameDigest(token.digest, digest)) return null;
  const { previousDigest, previousExpiresAt } = token;
  if (previousDigest === null || !sameDigest(previousDigest, digest)) return 'unknown';
  return previousExpiresAt !== null && previousExpiresAt > now ? null : 'expired';
}
