// Events and the webhook deliveries that they cause. One transaction writes at a time, so positions are in the order of
// commits.

import type { Changes } from '../../../domain/event/changes.ts';
import type {
  EventPosition,
  EventTarget,
  NewEvent,
  StoredEvent,
  Tenant,
} from '../../../domain/event/event.ts';
import { EVENT, RECORDED_EVENT, TENANT, TENANT_WITH_EVENTS } from '../../entities.ts';
import { searchRange, selectPage } from '../../event-page.ts';
import type { EventSearch } from '../../port.ts';
import type { Cell } from '../../row-shape.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import type { Connection } from '../file/connection.ts';
import { nextKey } from '../next-key.ts';
import { placeholders } from '../placeholders.ts';

const INSERT = `insert into events (${RECORDED_EVENT.names})
  values (${placeholders(RECORDED_EVENT)})`;
const INSERT_DELIVERY = `insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type,
    target_type, target_id, position, state, attempts, next_attempt_at, created_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?)`;
const OF_TARGET = 'workspace_id = ? and environment = ? and target_type = ? and target_id = ?';
const DELETE_OLD = `delete from events where position in (
    select position from events where workspace_id = ? and environment = ? order by position limit ?)
  and occurred_at < ?`;
/** A rename connects earlier events with its own. */
const DELETE_RENAMES = `delete from user_group_renames where workspace_id = ? and environment = ? and position < (
    select coalesce(min(position), ${Number.MAX_SAFE_INTEGER}) from events where workspace_id = ? and environment = ?)`;
const NEXT_OF_TARGET = `from events where ${OF_TARGET} and position > ? and position <= ?
  order by position limit ?`;
const FIND_ERASABLE = `select count(*), max(position) from (
    select position from (select position, changes is not null as is_erasable ${NEXT_OF_TARGET})
    where is_erasable limit ?)`;
const FIND_LAST_SCANNED = `select max(position) from (select position ${NEXT_OF_TARGET})`;
const HAS_MORE = `select 1 from events where ${OF_TARGET} limit 1 offset ?`;
const ERASE_LAST = `update events set changes = null where ${OF_TARGET} and position > ? and changes is not null`;
const ERASE = `update events set changes = null
  where ${OF_TARGET} and position > ? and position <= ? and changes is not null`;
const findNext = nextKey(
  TENANT,
  (condition) => `select ${TENANT_WITH_EVENTS.names} from events where ${condition}
    order by workspace_id, environment, position limit 1`,
);

/** Returns the position of the event; null without one. */
export function record(
  connection: Connection,
  event: NewEvent | undefined,
  version: number | null,
  makeChanges: () => Changes | null = () => null,
): number | null {
  if (event === undefined) return null;
  const changes = connection.eventQuota.storedForm(event, makeChanges());
  const position = connection.insert(INSERT, RECORDED_EVENT.cells({ ...event, version, changes }));
  const { bucket, workspaceId, environment, eventId, type, target, occurredAt } = event;
  for (const endpoint of event.endpoints) {
    const delivery = [bucket, workspaceId, environment, endpoint, eventId, type, target.type, target.id];
    connection.run(INSERT_DELIVERY, [...delivery, position, occurredAt, occurredAt]);
  }
  return position;
}

export const listEvents: QueryExecutor<'listEvents'> = (connection, search) => {
  const { sql, values } = searchStatement(search);
  const events: StoredEvent[] = [];
  const { last, isEnd } = selectPage(candidates(connection.iterate(sql, values), search, events), search);
  // `selectPage` only needs to know that an event follows the page.
  return { events: events.filter((event) => isUpTo(event, last, search)), last, isEnd };
};

function isUpTo(event: StoredEvent, last: EventPosition | null, { order }: EventSearch): boolean {
  if (last === null) return false;
  return order === 'newest' ? event.position >= last.position : event.position <= last.position;
}

/** Collects the events of the type. */
function* candidates(rows: Iterable<readonly unknown[]>, { type }: EventSearch, events: StoredEvent[]) {
  for (const row of rows) {
    const event = EVENT.read(row);
    if (type === null || event.type === type) events.push(event);
    yield { ...event, bytes: Buffer.byteLength(event.changes ?? '') };
  }
}

/** Does not read the changes of events of other types. */
function searchStatement(search: EventSearch): { sql: string; values: Cell[] } {
  const { tenant, target, order, type, scanLimit } = search;
  const direction = order === 'newest' ? 'desc' : 'asc';
  const columns = EVENT.names.replace('changes', 'case when ? in (type, ?) then changes end');
  const where = target === null ? 'workspace_id = ? and environment = ?' : OF_TARGET;
  const sql = `select ${columns} from events where ${where} and position > ? and position <= ?
    order by position ${direction} limit ?`;
  const { after, upTo } = searchRange(search);
  const wanted = type ?? EVERY_TYPE;
  const key = [tenant.workspaceId, tenant.environment, ...(target === null ? [] : [target.type, target.id])];
  return { sql, values: [wanted, EVERY_TYPE, ...key, after, upTo, scanLimit + 1] };
}

/** No type of an event is empty. */
const EVERY_TYPE = '';

export const findNextTenant: QueryExecutor<'findNextTenant'> = (connection, { after }) =>
  TENANT_WITH_EVENTS.readOrNull(findNext(connection, TENANT.cellsAfter(after)));

export const deleteOldEvents: CommandExecutor<'deleteOldEvents'> = (
  connection,
  { tenant, before, limit },
) => {
  const deleted = connection.run(DELETE_OLD, [...TENANT.cells(tenant), limit, before]);
  connection.run(DELETE_RENAMES, [...TENANT.cells(tenant), ...TENANT.cells(tenant)]);
  return deleted;
};

export const eraseChanges: CommandExecutor<'eraseChanges'> = (
  connection,
  { workspaceId, environment, target, range, limit, scanLimit },
) => {
  const place = [workspaceId, environment, target.type, target.id, range.after];
  const next = [...place, range.upTo, scanLimit];
  const [found, lastFound] = connection.get(FIND_ERASABLE, [...next, limit]) as [number, number];
  const [last] = found === limit ? [lastFound] : (connection.get(FIND_LAST_SCANNED, next) as [number | null]);
  if (found > 0) connection.run(ERASE, [...place, last]);
  return last;
};

/** Those after the position. */
export function eraseLastChanges(
  connection: Connection,
  { workspaceId, environment }: Tenant,
  target: EventTarget,
  after: number,
): void {
  connection.run(ERASE_LAST, [workspaceId, environment, target.type, target.id, after]);
}

export const hasMoreEvents: QueryExecutor<'hasMoreEvents'> = (connection, { tenant, target, than }) => {
  const key = [tenant.workspaceId, tenant.environment, target.type, target.id];
  return connection.get(HAS_MORE, [...key, than]) !== undefined;
};
