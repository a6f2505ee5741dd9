// Pages of events.

import type { StoredEvent } from '../../../domain/event/event.ts';
import { EVENT, TENANT } from '../../entities.ts';
import { searchRange, selectPage } from '../../event-page.ts';
import { HAS_TARGET_IN_BUCKET, userGroupCells } from '../../event-target.ts';
import { AHEAD, type EventSearch } from '../../port.ts';
import type { Cell } from '../../row-shape.ts';
import type { QueryExecutor } from '../executor.ts';
import type { Connection } from '../file/connection.ts';

// Reads only the index of targets.
export const HAS_MORE = `select 1 from events where ${HAS_TARGET_IN_BUCKET} limit 1 offset $6`;
/** There is none before the first event. */
const LAST_POSITION = "select seq from sqlite_sequence where name = 'events'";

export const listEvents: QueryExecutor<'listEvents'> = (connection, search) => {
  if (isAhead(connection, search)) return AHEAD;
  const { sql, values } = searchStatement(search);
  const events: StoredEvent[] = [];
  const rows = connection.iterate(sql, values);
  const { positions, last, isEnd } = selectPage(candidates(rows, search, events), search);
  // `selectPage` only needs to know that an event follows the page.
  return { events: events.slice(0, positions.length), last, isEnd };
};

function isAhead(connection: Connection, { target, order, after }: EventSearch): boolean {
  return target === null && order === 'oldest' && after !== null && after.position > lastPosition(connection);
}

/** Yields all events, and adds those of the type to `events`. */
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
  const isOfTarget = target === null ? '' : 'and target_type = ? and target_id = ?';
  const sql = `select ${columns} from events where workspace_id = ? and environment = ? ${isOfTarget}
      and position > ? and position <= ?
    order by position ${direction} limit ?`;
  const { after, upTo } = searchRange(search);
  const wanted = type ?? EVERY_TYPE;
  const key = [...TENANT.cells(tenant), ...(target === null ? [] : [target.type, target.id])];
  return { sql, values: [wanted, EVERY_TYPE, ...key, after, upTo, scanLimit + 1] };
}

/** No type of an event is empty. */
const EVERY_TYPE = '';

export const findEventFloor: QueryExecutor<'findEventFloor'> = lastPosition;

export const hasMoreEvents: QueryExecutor<'hasMoreEvents'> = (connection, { key, than }) =>
  connection.get(HAS_MORE, [...userGroupCells(key), than]) !== undefined;

/** Returns the last position that was given to an event. */
function lastPosition(connection: Connection): number {
  return (connection.get(LAST_POSITION)?.[0] ?? 0) as number;
}
