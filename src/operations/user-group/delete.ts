import type { Caller } from '../../domain/api-token.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { Context } from '../context.ts';
import { type EventContext, userGroupEvent } from '../event/event.ts';
import { changedTooOften, MAX_ATTEMPTS, userGroupNotFound, versionMismatch } from '../refusals.ts';
import { newestRange } from './history.ts';

type DeletionContext = EventContext & Pick<Context, 'erasures'>;

/** Maximum number of events whose values the transaction of the deletion removes. */
const MAX_EVENTS = 100;

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
    const eraseAfter = await eraseBeforehand(context, stored);
    const result = await context.store.write({
      kind: 'deleteUserGroup',
      key,
      eraseAfter,
      expected: stored.sealedToken,
      precondition,
      event: await userGroupEvent(context, caller, 'user_group.deleted', key),
    });
    if (result === 'deleted') return;
    if (result === 'not_found') throw userGroupNotFound();
    if (result === 'version_mismatch') throw versionMismatch();
    // The group was renamed, so that its history has further parts, or its token was rotated.
  }
  throw changedTooOften();
}

/**
 * Returns the position after which the deletion has to remove the values of events with the current id of the
 * group: that of the last rename, or a later one after a long history, whose values are removed here, so that
 * the transaction of the deletion stays short. If the deletion fails afterwards, only history is lost that the
 * caller wanted to remove.
 */
async function eraseBeforehand({ store, erasures }: DeletionContext, stored: UserGroup): Promise<number> {
  const [isLong, rename] = await Promise.all([
    store.read({ kind: 'hasMoreEvents', key: stored, than: MAX_EVENTS }),
    store.read({ kind: 'findLastRename', key: stored, before: Number.MAX_SAFE_INTEGER }),
  ]);
  const renamedAt = rename === null ? 0 : newestRange(rename).after;
  const isSimple = !isLong && rename?.direction !== 'from';
  return isSimple ? renamedAt : erasures.run(store, stored);
}
