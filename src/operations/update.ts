import type { Caller } from '../domain/api-token.ts';
import type { UserGroupBody } from '../domain/body.ts';
import { keyOf } from '../domain/user-group.ts';
import {
  type Context,
  type OpenUserGroup,
  openToken,
  userGroupNotFound,
  versionMismatch,
} from './context.ts';

/**
 * Replaces each sent field whole and leaves the others. With `ifVersion` only where the stored version is one of
 * them. Throws `user_group_not_found` and `version_mismatch`.
 */
export async function updateUserGroup(
  context: Context,
  caller: Caller,
  { userGroupId, ...fields }: UserGroupBody,
  ifVersion: readonly string[] | undefined,
): Promise<OpenUserGroup> {
  const userGroup = await context.store.write({
    kind: 'updateUserGroup',
    key: keyOf(caller.workspaceId, caller.environment, userGroupId),
    ...fields,
    ...(ifVersion !== undefined && { ifVersion }),
    now: context.clock(),
  });
  if (userGroup === 'not_found') {
    throw userGroupNotFound(' GET /api/user with a name creates one.');
  }
  if (userGroup === 'version_mismatch') {
    throw versionMismatch();
  }
  return openToken(context, userGroup);
}
