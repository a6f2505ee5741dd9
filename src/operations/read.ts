import type { Caller } from '../domain/api-token.ts';
import type { Secret } from '../domain/secret.ts';
import { keyOf, type UserGroup } from '../domain/user-group.ts';
import { type Context, openToken, userGroupNotFound } from './context.ts';

export interface ReadResult {
  userGroup: UserGroup;
  /** null for callers who may not see it. */
  token: Secret | null;
}

/** The group of the id as it is stored. Throws `user_group_not_found`. */
export async function readUserGroup(
  context: Context,
  caller: Caller,
  userGroupId: string,
): Promise<ReadResult> {
  const key = keyOf(caller.workspaceId, caller.environment, userGroupId);
  const userGroup = await context.store.read({ kind: 'findUserGroup', key });
  if (userGroup === null) throw userGroupNotFound();
  return caller.permission === 'read-write' ? openToken(context, userGroup) : { userGroup, token: null };
}
