import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import type { UserGroupKey } from '../../domain/user-group/user-group.ts';
import type { UserGroupBody } from '../../domain/user-group/user-group-body.ts';
import type { CommandResult, UserGroupUpdate } from '../../store/port.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { type EventContext, userGroupEvent } from '../event/event.ts';
import { userGroupNotFound, versionMismatch } from '../refusals.ts';
import { checkPolicies } from './violations.ts';

/**
 * Replaces each sent field as a whole; other fields stay unchanged. Throws `user_group_not_found`, and
 * `version_mismatch` if the precondition is not met.
 */
export async function updateUserGroup(
  context: Context,
  caller: Caller,
  body: UserGroupBody,
  precondition: Precondition | undefined,
): Promise<OpenUserGroup> {
  const { userGroupId, ...fields } = body;
  const check = checkPolicies(context, caller, userGroupId, fields);
  if (check !== undefined) await check;
  const key = context.store.userGroupKey(caller, userGroupId);
  const userGroup = await writeUpdate(context, caller, key, { ...fields, precondition });
  if (userGroup === 'not_found') throw userGroupNotFound(' GET /api/user with a name creates one.');
  if (userGroup === 'version_mismatch') throw versionMismatch();
  return openToken(context, userGroup);
}

/** Changes the stored user group and records its event. */
export async function writeUpdate(
  context: EventContext,
  caller: Caller,
  key: UserGroupKey,
  change: Omit<UserGroupUpdate, 'key' | 'now' | 'event'>,
): Promise<CommandResult<'updateUserGroup'>> {
  const event = await userGroupEvent(context, caller, 'user_group.updated', key);
  return context.store.write({ kind: 'updateUserGroup', key, ...change, now: context.clock(), event });
}
