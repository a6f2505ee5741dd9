import type { Caller } from '../domain/api-token.ts';
import type { UserGroupBody } from '../domain/body.ts';
import { keyOf } from '../domain/user-group.ts';
import { Problem } from '../problem.ts';
import { type Context, type OpenUserGroup, openToken, userGroupNotFound } from './context.ts';

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
    throw userGroupNotFound(
      'There is no user group with this user_group_id. GET /api/user with a name creates one.',
    );
  }
  if (userGroup === 'version_mismatch') {
    throw new Problem(
      'version_mismatch',
      'The user group has changed since the version that If-Match names. Read it again and decide anew.',
    );
  }
  return openToken(context, userGroup);
}
