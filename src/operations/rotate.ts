import type { Caller } from '../domain/api-token.ts';
import type { RotateBody } from '../domain/body.ts';
import { digestOf, mintUserGroupToken } from '../domain/token.ts';
import { Problem } from '../problem.ts';
import { type Context, isVisible, type OpenUserGroup, openToken, tokenNotFound } from './context.ts';
import { findByToken } from './find-by-token.ts';

/** The second attempt finds what made the first one fail; more mean that something is wrong. */
const MAX_ATTEMPTS = 4;

/**
 * Replaces the token of a group by a new one. The token that the last rotation replaced gives that rotation's
 * result again, so a caller whose answer was lost repeats the call. Throws `user_group_token_not_found`.
 */
export async function rotateToken(
  context: Context,
  caller: Caller,
  body: RotateBody,
): Promise<OpenUserGroup> {
  const { store, keyRing, clock } = context;
  const gracePeriodSeconds = body.gracePeriodSeconds ?? context.defaultGracePeriodSeconds;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await findByToken(store, body.currentToken);
    if (found === null || !isVisible(found.userGroup, caller)) throw tokenNotFound();
    const { userGroup, digest } = found;
    if (userGroup.tokenDigest !== digest) return openToken(context, userGroup);
    const token = mintUserGroupToken(userGroup.bucket);
    const tokenDigest = digestOf(token.reveal());
    const now = clock();
    const rotated = await store.write({
      kind: 'rotateToken',
      bucket: userGroup.bucket,
      teamId: userGroup.teamId,
      currentDigest: digest,
      forgottenDigest: userGroup.previousTokenDigest,
      tokenDigest,
      sealedToken: keyRing.seal(token, { ...userGroup, tokenDigest }),
      // Without a grace period no clock is asked: one that is set back must not bring the token to life again.
      previousTokenExpiresAt: gracePeriodSeconds === 0 ? null : now + gracePeriodSeconds * 1_000,
      now,
    });
    if (rotated !== null) return { userGroup: rotated, token };
    // Another rotation came between: the token is now the replaced one, or dead.
  }
  throw new Problem('overloaded', 'The token of this user group is being rotated too often.', {
    retryAfterSeconds: 1,
  });
}
