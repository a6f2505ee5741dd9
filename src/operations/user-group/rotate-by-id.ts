import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { keyToString } from '../../domain/user-group/user-group.ts';
import type { Context, OpenUserGroup } from '../context.ts';
import { findUserGroup } from './read.ts';
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
  const find = async () => ({
    userGroup: await findUserGroup(context, caller, userGroupId),
    isReplaced: false,
  });
  const replacement = { find, gracePeriodSeconds, precondition, maxAttempts: MAX_ATTEMPTS };
  return groupMutex.runExclusive(keyToString(key), store, () => replaceToken(context, caller, replacement));
}
