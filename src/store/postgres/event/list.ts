// Pages of events. The sizes of the candidates are read first: they decide where a page ends.

import { START } from '../../../domain/event/cursor.ts';
import { bucketOfTarget, type EventPosition, type StoredEvent } from '../../../domain/event/event.ts';
import { EVENT, TENANT } from '../../entities.ts';
import { type EventCandidate, searchRange, selectPage } from '../../event-page.ts';
import { HAS_TARGET } from '../../event-target.ts';
import { AHEAD, type EventPage, type EventSearch } from '../../port.ts';
import { one, type Statement, statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import type { QueryExecutor } from '../executor.ts';
import { HORIZON as HORIZON_ON_CITUS } from '../schema/citus.ts';
import { IN_RANGE, NEWEST_FIRST, OLDEST_FIRST } from './range.ts';
import { BASE, POSITIONS } from './record.ts';

/** The oldest transaction that is still running: no earlier one will record another event. */
export const HORIZON = statement('event_horizon')`
  select pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;

/** The same, or null if no transaction is running. */
export const FEED_BLOCKER = statement('find_feed_blocker')`
  select nullif(pg_snapshot_xmin(snapshot), pg_snapshot_xmax(snapshot))::text::bigint
  from pg_current_snapshot() as snapshot`;

// Changes may be large, so the sizes are queried first, which PostgreSQL knows without reading the texts.
const CANDIDATE = 'select position, event_id, type, coalesce(octet_length(changes), 0)';
const SELECT = `select ${EVENT.names}`;
const EVENTS_OF_TENANT = 'from events where workspace_id = $1 and environment = $2';
const HAS_TYPE = '($8::text is null or type = $8::text)';

interface Listing {
  scan: Statement;
  list: Statement;
}

// Selected by range, because events of other pages may have the same position, and by positions: for the
// range alone, PostgreSQL expects a ninth of all events, and if there are many it starts parallel workers,
// which takes 10 milliseconds.
export const FEED_NEWEST: Listing = {
  scan: statement('scan_events_newest')`
    ${CANDIDATE} ${EVENTS_OF_TENANT} and (position, event_id) < ($3, $4) order by position desc, event_id desc limit $5`,
  list: statement('list_events_newest')`
    ${SELECT} ${EVENTS_OF_TENANT} and (position, event_id) < ($3, $4) and (position, event_id) >= ($5, $6)
    and position = any ($7::bigint[]) and ${HAS_TYPE} order by position desc, event_id desc`,
};

export const FEED_OLDEST: Listing = {
  scan: statement('scan_events_oldest')`
    ${CANDIDATE} ${EVENTS_OF_TENANT} and (position, event_id) > ($3, $4) and position < $5
    order by position, event_id limit $6`,
  list: statement('list_events_oldest')`
    ${SELECT} ${EVENTS_OF_TENANT} and (position, event_id) > ($3, $4) and (position, event_id) <= ($5, $6)
    and position = any ($7::bigint[]) and ${HAS_TYPE} order by position, event_id`,
};

// Needs no horizon: the events of a target are committed in the order of their positions. Selected by
// positions, not by their range, for which PostgreSQL may choose the index of the feed and read the events of
// all targets.
export const TARGET_NEWEST: Listing = {
  scan: statement('scan_target_events_newest')`
    ${CANDIDATE} from events where ${IN_RANGE} order by ${NEWEST_FIRST} limit $8`,
  list: statement('list_target_events_newest')`
    ${SELECT} from events where ${HAS_TARGET} and position = any ($6::bigint[]) order by position desc`,
};

export const TARGET_OLDEST: Listing = {
  scan: statement('scan_target_events_oldest')`
    ${CANDIDATE} from events where ${IN_RANGE} order by ${OLDEST_FIRST} limit $8`,
  list: statement('list_target_events_oldest')`
    ${SELECT} from events where ${HAS_TARGET} and position = any ($6::bigint[]) order by position`,
};

export const FLOOR = statement('event_position_floor')`select deleted_to from event_positions`;

export const listEvents: QueryExecutor<'listEvents'> = async (session, search) => {
  const { tenant, target, order, type, readsToEnd } = search;
  if (target === null) {
    const start = search.after ?? (order === 'newest' ? LAST : START);
    const { scan, list } = order === 'newest' ? FEED_NEWEST : FEED_OLDEST;
    const from = [...TENANT.cells(tenant), start.position, start.eventId];
    // Separate statement: on Citus, workers have other transaction ids.
    const end = order === 'newest' || readsToEnd ? LAST.position : await horizon(session);
    // No reader has seen an event after the horizon, which never decreases.
    if (order === 'oldest' && start.position >= end) return AHEAD;
    const bounds = order === 'newest' ? from : [...from, end];
    return page(session, search, { sql: scan, values: bounds }, (last, positions) =>
      session.query(list, [...from, last.position, last.eventId, positions, type]),
    );
  }
  const { scan, list } = order === 'newest' ? TARGET_NEWEST : TARGET_OLDEST;
  const key = [bucketOfTarget(tenant, target), ...TENANT.cells(tenant), target.type, target.id];
  const { after, upTo } = searchRange(search);
  return page(session, search, { sql: scan, values: [...key, after, upTo] }, (_, positions) =>
    session.query(list, [...key, positions]),
  );
};

const LAST: EventPosition = { position: Number.MAX_SAFE_INTEGER, eventId: '~' };

/** Returns the position before which no further event will be committed. */
async function horizon(session: Session): Promise<number> {
  // In this order, and not in one statement: a higher base is only set while no process writes.
  const [[transaction], [base]] = await session.pipelined(() => [
    session.query(session.isDistributed ? HORIZON_ON_CITUS : HORIZON),
    session.query(BASE),
  ]);
  return ((base![0] as number) + (transaction![0] as number)) * POSITIONS;
}

async function page(
  session: Session,
  search: EventSearch,
  scan: { sql: Statement; values: unknown[] },
  list: (last: EventPosition, positions: readonly number[]) => Promise<unknown[][]>,
): Promise<EventPage> {
  const rows = await session.query(scan.sql, [...scan.values, search.scanLimit + 1]);
  const { positions, last, isEnd } = selectPage(rows.map(toCandidate), search);
  const events = last === null || positions.length === 0 ? [] : EVENT.readAll(await list(last, positions));
  return { events, last, isEnd };
}

function toCandidate(row: readonly unknown[]): EventCandidate {
  const [position, eventId, type, bytes] = row as [number, string, StoredEvent['type'], number];
  return { position, eventId, type, bytes };
}

export const findEventFloor: QueryExecutor<'findEventFloor'> = (session) => session.read(one<number>(FLOOR));

export const findFeedBlocker: QueryExecutor<'findFeedBlocker'> = (session) =>
  session.read(one<number | null>(FEED_BLOCKER));
