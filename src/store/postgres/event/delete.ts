// Deletes old events, and the changes of events whose user group is deleted.

import type { EventKey } from '../../../domain/event/event.ts';
import { EVENT_KEY, EVENT_TARGET, TENANT } from '../../entities.ts';
import { IS_ERASABLE } from '../../event-erasure.ts';
import { AHEAD_EVENTS } from '../../port.ts';
import { bigint, Entity, RowShape } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import type { CommandExecutor } from '../executor.ts';
import { isSent, sentRows, toArrays } from '../sent-rows.ts';
import { HAS_TARGET, IN_RANGE, OLDEST_FIRST, userGroupCells } from './target.ts';

const OLD_EVENT = new Entity<EventKey & { occurredAt: number }>((column) => ({
  bucket: column.integer('bucket'),
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
  target: { type: column.text('target_type'), id: column.text('target_id') },
  position: column.bigint('position'),
  occurredAt: column.bigint('occurred_at'),
}));

// Batches continue where the last one ended: PostgreSQL keeps deleted rows, and reads them again, until it vacuums.
// That takes long while another transaction is open. Other events may have the position of the last one.
export const FIND_OLD = statement('find_old_events')`
  select ${OLD_EVENT.names} from events where workspace_id = $1 and environment = $2 and position >= $3
  order by position, event_id limit $4`;

export const DELETE = statement('delete_events')`
  delete from events as stored
  using ${sentRows(EVENT_KEY)} where ${isSent(EVENT_KEY)} returning 1`;

// A rename only links earlier events to its own: it is deleted when they are.
export const DELETE_RENAMES = statement('delete_user_group_renames')`
  delete from user_group_renames where workspace_id = $1 and environment = $2 and position <= $3`;

// Positions of deleted events are not reused after a restore: readers have seen them.
export const RAISE_FLOOR = statement('raise_event_position_floor')`
  update event_positions set deleted_to = $1 where deleted_to < $1`;

const ERASED = new RowShape({ ...EVENT_TARGET.fields, eraseAfter: bigint<number>('erase_after') });

export const ERASE = statement('erase_event_changes')`
  update events as stored set changes = null
  from ${sentRows(ERASED)}
  where ${isSent(EVENT_TARGET)} and stored.position > sent.erase_after and ${IS_ERASABLE}`;

const NEXT_OF_TARGET = `from events where ${IN_RANGE} order by ${OLDEST_FIRST} limit $8`;

export const FIND_ERASABLE = statement('find_erasable_events')`
  select position from (select position, ${IS_ERASABLE} as is_erasable ${NEXT_OF_TARGET}) as scanned
  where is_erasable limit $9`;

export const FIND_LAST_SCANNED = statement('find_last_scanned_event')`
  select max(position) from (select position ${NEXT_OF_TARGET}) as scanned`;

export const ERASE_EACH = statement('erase_each_event_changes')`
  update events set changes = null where ${HAS_TARGET} and position = any ($6::bigint[])`;

/** Runs in a transaction. */
export const deleteOldEvents: CommandExecutor<'deleteOldEvents'> = async (
  session,
  { tenant, before, limit, now, after = [0] },
) => {
  const oldest = now === undefined ? limit : AHEAD_EVENTS;
  const found = OLD_EVENT.readAll(await session.query(FIND_OLD, [...TENANT.cells(tenant), ...after, oldest]));
  const lastOld = found.findLastIndex(({ occurredAt }) => occurredAt < before);
  const isOld = ({ occurredAt }: { occurredAt: number }) =>
    occurredAt < before || (now !== undefined && occurredAt > now);
  const old = found
    .slice(0, lastOld + 1)
    .filter(isOld)
    .slice(0, limit);
  if (old.length === 0) return { deleted: 0, hasMore: false };
  const last = Math.max(...old.map(({ position }) => position));
  // A kept event may precede a deleted one: positions are not in the order of the clocks.
  const kept = found.find((event) => !old.includes(event));
  const [, deleted] = await session.pipelined(() => [
    session.query(RAISE_FLOOR, [last]),
    session.query(DELETE, toArrays(EVENT_KEY, old)),
    session.query(DELETE_RENAMES, [...TENANT.cells(tenant), kept === undefined ? last : kept.position - 1]),
  ]);
  // With `now`, the next batch looks at the events that this one has kept again.
  const next = now === undefined && { next: [last] };
  return { deleted: deleted.length, hasMore: old.length === limit, ...next };
};

/** Erases the changes after `eraseAfter`. */
export async function eraseLastChanges(
  session: Session,
  targets: readonly (Omit<EventKey, 'position'> & { eraseAfter: number })[],
): Promise<void> {
  if (targets.length === 0) return;
  await session.query(ERASE, toArrays(ERASED, targets));
}

export const eraseChanges: CommandExecutor<'eraseChanges'> = async (
  session,
  { key, range, limit, scanLimit },
) => {
  const target = userGroupCells(key);
  const next = [...target, range.after, range.upTo, scanLimit];
  const found = await session.query(FIND_ERASABLE, [...next, limit]);
  const scanned = found.length === limit ? found : await session.query(FIND_LAST_SCANNED, next);
  const [last] = scanned.at(-1) as [number | null];
  if (found.length > 0) await session.query(ERASE_EACH, [...target, found.map(([position]) => position)]);
  return last;
};
