import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { type EventContext, userGroupEvent } from '../event/event.ts';
import { userGroupNotFound, versionMismatch } from '../refusals.ts';

/**
 * Suspends the group: its tokens resolve to nothing, effective with the next request, until it is resumed. Suspending a
 * suspended group changes nothing. Throws `user_group_not_found`, and `version_mismatch` if the precondition is not met.
 */
export function suspendUserGroup(
  context: EventContext,
  caller: Caller,
  userGroupId: string,
  precondition?: Precondition,
): Promise<UserGroup> {
  return setSuspension(context, caller, userGroupId, { suspendedAt: context.clock(), precondition });
}

/** Resumes the group: the same tokens resolve again. Otherwise like `suspendUserGroup`. */
export function resumeUserGroup(
  context: EventContext,
  caller: Caller,
  userGroupId: string,
  precondition?: Precondition,
): Promise<UserGroup> {
  return setSuspension(context, caller, userGroupId, { suspendedAt: null, precondition });
}

async function setSuspension(
  context: EventContext,
  caller: Caller,
  userGroupId: string,
  change: { suspendedAt: number | null; precondition: Precondition | undefined },
): Promise<UserGroup> {
  const key = context.store.userGroupKey(caller, userGroupId);
  const userGroup = await context.store.write({
    kind: 'updateUserGroup',
    key,
    ...change,
    now: context.clock(),
    event: await userGroupEvent(context, caller, 'updated', key),
  });
  if (userGroup === 'not_found') throw userGroupNotFound();
  if (userGroup === 'version_mismatch') throw versionMismatch();
  return userGroup;
}
