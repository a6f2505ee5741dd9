import { type Caller, isPermitted } from '../../domain/api-token.ts';
import { type Precondition, unmetCondition } from '../../domain/precondition.ts';
import type { Secret } from '../../domain/secret.ts';
import { type UserGroup, versionTag } from '../../domain/user-group/user-group.ts';
import { type Context, openToken } from '../context.ts';
import { userGroupNotFound, versionMismatch } from '../refusals.ts';

interface ReadResult {
  userGroup: UserGroup;
  /** null for callers that must not see the token. */
  token: Secret | null;
}

/**
 * Returns the stored group with this id; `notModified` if `If-None-Match` names its version. Throws
 * `user_group_not_found`, and `version_mismatch` if `If-Match` is not met.
 */
export async function readUserGroup(
  context: Context,
  caller: Caller,
  userGroupId: string,
  precondition: Precondition = {},
): Promise<ReadResult | { notModified: UserGroup }> {
  const userGroup = await findUserGroup(context, caller, userGroupId);
  const unmet = unmetCondition(precondition, versionTag(userGroup));
  if (unmet === 'ifMatch') throw versionMismatch();
  if (unmet === 'ifNoneMatch') return { notModified: userGroup };
  return isPermitted(caller, ['read-write']) ? openToken(context, userGroup) : { userGroup, token: null };
}

/** Throws `user_group_not_found`. */
export async function findUserGroup(
  { store }: Pick<Context, 'store'>,
  caller: Caller,
  userGroupId: string,
): Promise<UserGroup> {
  const key = store.userGroupKey(caller, userGroupId);
  const userGroup = await store.read({ kind: 'findUserGroup', key });
  if (userGroup === null) throw userGroupNotFound();
  return userGroup;
}
