// Commands that delete old events, or the changes of events whose user group is deleted.

import type { EventKey, EventType } from '../domain/event/event.ts';
import { EVENT_KEY, TENANT } from './entities.ts';
import { HAS_TARGET, userGroupCells } from './event-target.ts';
import { AHEAD_EVENTS, type Command, type CommandResult } from './port.ts';
import { Entity } from './row-shape.ts';
import { all, column, exists, one, run, type Statement, statement } from './statement.ts';
import { type CommandSteps, type Steps, send } from './steps.ts';

// A rename keeps its two ids, or a reader of the feed would not know which of its copies the deletion concerns.
const RENAMED: EventType = 'user_group.renamed';

/** Condition on the columns of an event whose changes the deletion of its user group erases. */
export const IS_ERASABLE = `(changes is not null and type <> '${RENAMED}')`;

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

// A statement for each row, in order: one for a range locks rows in the order of its plan, and deadlocks with ERASE.
export const DELETE = statement('delete_event')`
  delete from events where ${HAS_TARGET} and position = $6 returning position`;

// A rename only links earlier events to its own: it is deleted when they are.
export const DELETE_RENAMES = statement('delete_user_group_renames')`
  delete from user_group_renames where workspace_id = $1 and environment = $2 and position <= $3`;

export const ERASE = statement('erase_event_changes')`
  update events set changes = null where ${HAS_TARGET} and position = $6`;

export const deleteOldEvents: CommandSteps<'deleteOldEvents'> = function* (
  { tenant, before, limit, now, after = [0] },
  { keepPositions },
) {
  const oldest = now === undefined ? limit : AHEAD_EVENTS;
  const found = yield* send(all(OLD_EVENT, FIND_OLD, [...TENANT.cells(tenant), ...after, oldest]));
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
  const deletions = old.map((event) => exists(DELETE, EVENT_KEY.cells(event)));
  const upTo = kept === undefined ? last : kept.position - 1;
  const results = yield [
    ...keepPositions(last),
    ...deletions,
    run(DELETE_RENAMES, [...TENANT.cells(tenant), upTo]),
  ];
  const deleted = results.filter((result) => result === true).length;
  // With `now`, the next batch looks at the events that this one has kept again.
  const next = now === undefined && { next: [last] };
  return { deleted, hasMore: old.length === limit, ...next };
};

/** Statements that look for events to erase. `range`: the next ones of a target, after position $6 up to $7, at most $8. */
export function erasureOf(range: string): Record<'find' | 'findLastScanned', Statement> {
  return {
    find: statement('find_erasable_events')`
      select position from (select position, ${IS_ERASABLE} as is_erasable ${range}) as scanned
      where is_erasable limit $9`,
    findLastScanned: statement('find_last_scanned_event')`
      select max(position) from (select position ${range}) as scanned`,
  };
}

export function* eraseChanges(
  { find, findLastScanned }: ReturnType<typeof erasureOf>,
  { key, range, limit, scanLimit }: Omit<Command<'eraseChanges'>, 'kind'>,
): Steps<CommandResult<'eraseChanges'>> {
  const target = userGroupCells(key);
  const next = [...target, range.after, range.upTo, scanLimit];
  const found = yield* send(column<number>(find, [...next, limit]));
  const last =
    found.length === limit ? found.at(-1)! : yield* send(one<number | null>(findLastScanned, next));
  yield found.map((position) => run(ERASE, [...target, position]));
  return last;
}
