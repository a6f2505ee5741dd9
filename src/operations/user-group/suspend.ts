import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { EventContext } from '../event/event.ts';
import { userGroupNotFound, versionMismatch } from '../refusals.ts';
import { writeUpdate } from './update.ts';

/**
 * Suspends the group: effective with the next request, its tokens do not resolve until it is resumed.
 * Suspending a suspended group changes nothing. Throws `user_group_not_found`, and `version_mismatch` if the
 * precondition is not met.
 */
export const suspendUserGroup = suspension(true);

/** Resumes the group: the same tokens resolve again. Otherwise like `suspendUserGroup`. */
export const resumeUserGroup = suspension(false);

function suspension(isSuspended: boolean) {
  return async (
    context: EventContext,
    caller: Caller,
    userGroupId: string,
    precondition?: Precondition,
  ): Promise<UserGroup> => {
    const key = context.store.userGroupKey(caller, userGroupId);
    const change = { suspendedAt: isSuspended ? context.clock() : null, precondition };
    const userGroup = await writeUpdate(context, caller, key, change);
    if (userGroup === 'not_found') throw userGroupNotFound();
    if (userGroup === 'version_mismatch') throw versionMismatch();
    return userGroup;
  };
}
