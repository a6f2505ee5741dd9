import type { Caller } from '../../domain/api-token.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import type { TokenDigest } from '../../domain/token.ts';
import { keyToString } from '../../domain/user-group/user-group.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { tooBusy, userGroupNotFound, versionMismatch } from '../refusals.ts';
import { replaceToken } from './replace-token.ts';

/** Rotations of one group are serialized in this process. Updates and other processes can still interfere. */
const MAX_ATTEMPTS = 100;

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
  return groupMutex.runExclusive(keyToString(key), store, async () => {
    const minted = new Set<TokenDigest>();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await store.read({ kind: 'findUserGroup', key });
      if (stored === null) throw userGroupNotFound();
      // The store repeats a command whose result was lost.
      if (minted.has(stored.tokenDigest)) return openToken(context, stored);
      if (!isMet(precondition, stored)) throw versionMismatch();
      const rotated = await replaceToken(context, caller, stored, {
        gracePeriodSeconds,
        precondition,
        minted,
      });
      if (rotated !== null) return rotated;
      // Changed or deleted concurrently: the next read shows which.
    }
    throw tooBusy('The token of this user group is being rotated too often.');
  });
}
