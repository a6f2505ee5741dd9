import type { Caller } from '../../domain/api-token.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import type { UserGroupKey } from '../../domain/user-group/user-group.ts';
import type { Context } from '../context.ts';
import { type EventContext, userGroupEvent } from '../event/event.ts';
import { changedTooOften, userGroupNotFound, versionMismatch } from '../refusals.ts';
import { newestRange } from './history.ts';

type DeletionContext = EventContext & Pick<Context, 'erasures'>;

/** Maximum number of events whose values the transaction of the deletion removes. */
const MAX_EVENTS = 100;
/** Each attempt fails only if the group was renamed, or its token changed, between a read and a write. */
const MAX_ATTEMPTS = 20;

/**
 * Deletes the group: its token is invalid immediately, its id can be used again, and its events keep no
 * values. Throws `user_group_not_found`, and `version_mismatch` if the precondition is not met.
 */
export async function deleteUserGroup(
  context: DeletionContext,
  caller: Caller,
  userGroupId: string,
  precondition: Precondition | undefined,
): Promise<void> {
  const key = context.store.userGroupKey(caller, userGroupId);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const stored = await context.store.read({ kind: 'findUserGroup', key });
    if (stored === null) throw userGroupNotFound();
    if (!isMet(precondition, stored)) throw versionMismatch();
    const erasedTo = await eraseLongHistory(context, key);
    const result = await context.store.write({
      kind: 'deleteUserGroup',
      key,
      erasedTo,
      expected: stored.sealedToken,
      precondition,
      event: await userGroupEvent(context, caller, 'deleted', key),
    });
    if (result === 'deleted') return;
    if (result === 'not_found') throw userGroupNotFound();
    if (result === 'version_mismatch') throw versionMismatch();
    // The group was renamed, so that its history has further parts, or its token was rotated.
  }
  throw changedTooOften();
}

/**
 * Removes the values of a long history beforehand, so that the transaction of the deletion stays short: it
 * then handles only events with the current id of the group. Returns the position up to which events with
 * this id have no values or belong to another group. If the deletion fails afterwards, only history is lost
 * that the caller wanted to remove.
 */
async function eraseLongHistory({ store, erasures }: DeletionContext, key: UserGroupKey): Promise<number> {
  const target = { type: 'user_group', id: key.providedId } as const;
  const [isLong, rename] = await Promise.all([
    store.read({ kind: 'hasMoreEvents', tenant: key, target, than: MAX_EVENTS }),
    store.read({ kind: 'findLastRename', key, before: Number.MAX_SAFE_INTEGER }),
  ]);
  const after = rename === null ? 0 : newestRange(rename).after;
  return isLong || rename?.direction === 'from' ? erasures.run(store, key, after) : after;
}
