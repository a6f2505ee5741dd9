// Replaces the token of a group with a compare-and-set on the current token, repeated after a concurrent
// change.

import type { Caller } from '../../domain/api-token.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import { digestToken, mintUserGroupToken, type PresentedToken } from '../../domain/token.ts';
import { keyToString, type UserGroup } from '../../domain/user-group/user-group.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { userGroupEvent } from '../event/event.ts';
import { changedTooOften, MAX_ATTEMPTS, tokenNotFound, versionMismatch } from '../refusals.ts';
import { findByToken } from './find-by-token.ts';
import { findUserGroup } from './read.ts';

export interface RotateBody {
  currentToken: PresentedToken;
  gracePeriodSeconds?: number | undefined;
}

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

/** The second attempt sees the change that made the first one fail; more failures indicate a bug. */
const MAX_ATTEMPTS_BY_TOKEN = 4;

/**
 * Replaces the token of a group. Called with the token that the last rotation replaced, returns that
 * rotation's result again, so a caller whose response was lost can retry. Throws
 * `user_group_token_not_found`, and `version_mismatch` if the precondition is not met. A retry has to meet it
 * too, because it cannot be distinguished from a concurrent call with the same precondition, of which only
 * one may succeed.
 */
export async function rotateToken(
  context: Context,
  caller: Caller,
  { currentToken, gracePeriodSeconds }: RotateBody,
  precondition?: Precondition,
): Promise<OpenUserGroup> {
  const find = async () => {
    const found = await findByToken(context.store, currentToken, caller);
    if (found === null) throw tokenNotFound();
    const { userGroup, digest } = found;
    return { userGroup, isReplaced: userGroup.tokenDigest !== digest };
  };
  const maxAttempts = MAX_ATTEMPTS_BY_TOKEN;
  return replaceToken(context, caller, { find, gracePeriodSeconds, precondition, maxAttempts });
}

/**
 * Replaces the token of the group with this id. Not idempotent: without `If-Match` a repeated call rotates again. Throws
 * `user_group_not_found`, and `version_mismatch` if the precondition is not met.
 */
export async function rotateTokenById(
  context: Context,
  caller: Caller,
  userGroupId: string,
  gracePeriodSeconds: number | undefined,
  precondition: Precondition | undefined,
): Promise<OpenUserGroup> {
  const { store, groupMutex } = context;
  const key = store.userGroupKey(caller, userGroupId);
  const find = async () => ({
    userGroup: await findUserGroup(context, caller, userGroupId),
    isReplaced: false,
  });
  const replacement = { find, gracePeriodSeconds, precondition, maxAttempts: MAX_ATTEMPTS };
  return groupMutex.runExclusive(keyToString(key), store, () => replaceToken(context, caller, replacement));
}

/** Throws `version_mismatch` if the precondition is not met. */
async function replaceToken(
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
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { userGroup, isReplaced } = await find();
    if (!isMet(precondition, userGroup)) throw versionMismatch();
    if (isReplaced) return openToken(context, userGroup);
    const token = mintUserGroupToken(userGroup.bucket);
    const tokenDigest = digestToken(token.reveal());
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
  throw changedTooOften();
}
