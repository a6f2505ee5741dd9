import type { Caller } from '../../domain/api-token.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import { keyOf, type UserGroup, type UserGroupKey } from '../../domain/user-group.ts';
import { type EventContext, userGroupEvent } from '../event.ts';
import { userGroupNotFound, versionMismatch } from '../refusals.ts';

/** The deletion removes the changes from so many events in its transaction. */
const MAX_EVENTS = 100;

/**
 * Deletes the group: its token is dead immediately, its id can be used again, its events have no values. Throws
 * `user_group_not_found`, and `version_mismatch` if the precondition is not met.
 */
export async function deleteUserGroup(
  context: EventContext,
  caller: Caller,
  userGroupId: string,
  precondition: Precondition | undefined,
): Promise<void> {
  const key = keyOf(caller.workspaceId, caller.environment, userGroupId);
  const stored = await context.store.read({ kind: 'findUserGroup', key });
  if (stored === null) throw userGroupNotFound();
  if (!isMet(precondition, stored)) throw versionMismatch();
  await eraseMostChanges(context, key, stored);
  const result = await context.store.write({
    kind: 'deleteUserGroup',
    key,
    precondition,
    event: await userGroupEvent(context, caller, 'deleted', key),
  });
  if (result === 'not_found') throw userGroupNotFound();
  if (result === 'version_mismatch') throw versionMismatch();
}

/**
 * Keeps the transaction of the deletion short: every version of the group has an event. A deletion that fails after this
 * loses only history that its caller wanted to remove.
 */
async function eraseMostChanges(
  { store }: EventContext,
  key: UserGroupKey,
  { version }: Pick<UserGroup, 'version'>,
): Promise<void> {
  if (version <= MAX_EVENTS) return;
  const target = { type: 'user_group', id: key.providedId } as const;
  for (let after: number | null = 0; after !== null; )
    after = await store.write({ kind: 'eraseChanges', ...key, target, after, limit: MAX_EVENTS });
}
