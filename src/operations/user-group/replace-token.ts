// One attempt to replace the token of a group: a compare-and-set on the current token.

import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { digestToken, mintUserGroupToken, type TokenDigest } from '../../domain/token.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { Context, OpenUserGroup } from '../context.ts';
import { userGroupEvent } from '../event/event.ts';

interface TokenReplacement {
  /** The default of the service if undefined. */
  gracePeriodSeconds: number | undefined;
  precondition: Precondition | undefined;
  /** Receives the digest of the new token. */
  minted: Set<TokenDigest>;
}

/** Returns null if the group was changed concurrently. */
export async function replaceToken(
  context: Context,
  caller: Caller,
  userGroup: UserGroup,
  { gracePeriodSeconds = context.defaultGracePeriodSeconds, precondition, minted }: TokenReplacement,
): Promise<OpenUserGroup | null> {
  const { store, keyRing, clock } = context;
  const token = mintUserGroupToken(userGroup.bucket);
  const tokenDigest = digestToken(token.reveal());
  minted.add(tokenDigest);
  const now = clock();
  const rotated = await store.write({
    kind: 'rotateToken',
    bucket: userGroup.bucket,
    providedId: userGroup.providedId,
    teamId: userGroup.teamId,
    currentDigest: userGroup.tokenDigest,
    forgottenDigest: userGroup.previousTokenDigest,
    tokenDigest,
    sealedToken: keyRing.seal(token, { ...userGroup, tokenDigest }),
    precondition,
    // Without a grace period the clock is irrelevant: setting it back must not revive the token.
    previousTokenExpiresAt: gracePeriodSeconds === 0 ? null : now + gracePeriodSeconds * 1_000,
    now,
    event: await userGroupEvent(context, caller, 'token_rotated', userGroup),
  });
  return rotated && { userGroup: rotated, token };
}
