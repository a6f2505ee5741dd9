import type { Caller } from '../domain/api-token.ts';
import { keyOf } from '../domain/user-group.ts';
import { type Context, userGroupNotFound, versionMismatch } from './context.ts';

/**
 * Deletes the group: its token is dead at once, its id free for another one. With `ifVersion` only where the stored
 * version is one of them. Throws `user_group_not_found` and `version_mismatch`.
 */
export async function deleteUserGroup(
  { store }: Context,
  caller: Caller,
  userGroupId: string,
  ifVersion: readonly string[] | undefined,
): Promise<void> {
  const result = await store.write({
    kind: 'deleteUserGroup',
    key: keyOf(caller.workspaceId, caller.environment, userGroupId),
    ...(ifVersion !== undefined && { ifVersion }),
  });
  if (result === 'not_found') throw userGroupNotFound();
  if (result === 'version_mismatch') throw versionMismatch();
}
