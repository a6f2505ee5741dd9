import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { keyOf } from '../../domain/user-group.ts';
import { type EventContext, userGroupEvent } from '../event.ts';
import { userGroupNotFound, versionMismatch } from '../refusals.ts';

/**
 * Deletes the group: its token is dead immediately, its id can be used again. Throws `user_group_not_found`, and
 * `version_mismatch` if the precondition is not met.
 */
export async function deleteUserGroup(
  context: EventContext,
  caller: Caller,
  userGroupId: string,
  precondition: Precondition | undefined,
): Promise<void> {
  const result = await context.store.write({
    kind: 'deleteUserGroup',
    key: keyOf(caller.workspaceId, caller.environment, userGroupId),
    precondition,
    event: await userGroupEvent(context, caller, 'deleted', { providedId: userGroupId }),
  });
  if (result === 'not_found') throw userGroupNotFound();
  if (result === 'version_mismatch') throw versionMismatch();
}
