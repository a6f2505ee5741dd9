// Replaces the token of a group with a compare-and-set on the current token, repeated after a concurrent
// change.

import type { Caller } from '../../domain/api-token.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import { digestToken, mintUserGroupToken, type TokenDigest } from '../../domain/token.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { userGroupEvent } from '../event/event.ts';
import { tooBusy, versionMismatch } from '../refusals.ts';

interface TokenReplacement {
  /**
   * Reads the group. `isReplaced`: its token was already replaced before this call, which returns the current
   * one.
   */
  find: () => Promise<{ userGroup: UserGroup; isReplaced: boolean }>;
  /** Uses the default of the service if undefined. */
  gracePeriodSeconds: number | undefined;
  precondition: Precondition | undefined;
  maxAttempts: number;
}

/** Throws `version_mismatch` if the precondition is not met. */
export async function replaceToken(
  context: Context,
  caller: Caller,
  {
    find,
    gracePeriodSeconds = context.defaultGracePeriodSeconds,
    precondition,
    maxAttempts,
  }: TokenReplacement,
): Promise<OpenUserGroup> {
  const { store, keyRing, clock } = context;
  const minted = new Set<TokenDigest>();
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { userGroup, isReplaced } = await find();
    // The store may repeat a command whose result was lost; this call met the precondition the first time.
    if (minted.has(userGroup.tokenDigest)) return openToken(context, userGroup);
    if (!isMet(precondition, userGroup)) throw versionMismatch();
    if (isReplaced) return openToken(context, userGroup);
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
      // Without a grace period, null instead of the current time: setting the clock back must not revive the
      // token.
      previousTokenExpiresAt: gracePeriodSeconds === 0 ? null : now + gracePeriodSeconds * 1_000,
      now,
      event: await userGroupEvent(context, caller, 'user_group.token_rotated', userGroup),
    });
    if (rotated !== null) return { userGroup: rotated, token };
    // The group was changed or deleted concurrently; the next read shows which.
  }
  throw tooBusy('The token of this user group is being rotated too often.');
}
