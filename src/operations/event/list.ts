// Pages of events: newest first, or oldest first as a feed that a reader polls.

import type { Caller } from '../../domain/api-token.ts';
import {
  type EventList,
  eventCursor,
  eventCursorPosition,
  type ListPosition,
  START,
} from '../../domain/event/cursor.ts';
import type { EventTarget, EventType, StoredEvent } from '../../domain/event/event.ts';
import { compileEventFilter, type EventFilter } from '../../domain/event/filter.ts';
import { eventJson } from '../../domain/event/json.ts';
import { limits } from '../../domain/field.ts';
import { DAY_MS, HOUR_MS } from '../../domain/instant.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { tenantOf } from '../../domain/tenant.ts';
import { Problem } from '../../problem.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { Context } from '../context.ts';
import { type PageQuery, refuseCursor } from '../list-cursor.ts';
import { type ListedEvents, type ListSearch, readHistoryPage } from './history-page.ts';

export interface EventQuery extends PageQuery {
  order: EventList['order'];
  type?: EventType;
  target?: EventTarget;
  filter?: EventFilter;
}

export interface EventsPage {
  /** `json` is the event as callers see it; its size limits the page. */
  events: (StoredEvent & { json: JsonText })[];
  /** null at the end of the newest-first list; the feed has no end. */
  nextCursor: string | null;
}

/**
 * Events that a page with a type reads. If few of them match, the page has fewer events than its limit, or
 * none.
 */
const SCANNED = 1_000;
/** Maximum number of reads of that size for a page with another filter, until it has an event. */
const SCANS = 10;
/**
 * Time after which such a page ends, even if it is empty, and the search for its beginning: reads of other requests may
 * delay each of its own.
 */
const MAX_SCAN_MS = 500;
/** Ids contain no control characters, and PostgreSQL refuses a query with NUL. */
const CONTROL = /\p{Cc}/u;
/** Maximum difference between the clocks of processes: events are ordered by transaction, not by time. */
const CLOCK_SKEW_MS = 600_000;

type EventContext = Pick<Context, 'store' | 'cpu' | 'clock' | 'eventRetentionDays'>;

const EXPIRED =
  'older than the events that are kept, so that some may have been deleted before you read them';
const AHEAD = 'newer than the database, which was restored or has lost changes in a failover';

/**
 * Lists events. The feed returns every event of the caller's workspace and environment exactly once, whatever
 * is committed meanwhile. Throws `invalid_request` for a cursor of another list, and for one of the feed that is older
 * than the retention or that the database has not reached.
 */
export async function listEvents(
  context: EventContext,
  caller: Caller,
  { order, limit, cursor, type, target, filter = {} }: EventQuery,
): Promise<EventsPage> {
  const now = context.clock();
  const endBy = performance.now() + MAX_SCAN_MS;
  const tenant = tenantOf(caller);
  const list: EventList = { tenant, order, type: type ?? null, target: target ?? null, filter };
  const start =
    cursor === undefined ? null : (eventCursorPosition(list, cursor) ?? refuseCursor('order and filters'));
  if (isExpired(start, context.eventRetentionDays, now)) throw feedCursorRefused(EXPIRED);
  const page: OpenPage = { list, limit, meetsFilter: compileEventFilter(filter), events: [], bytes: 0 };
  const first = start ?? (await endOfPeriod(context.store, list, endBy));
  const { last, isEnd } = await fillPage(context, page, first, endBy);
  const readUpToHour = isEnd ? toHour(now) : reachedHour(start, page.events, now);
  return { events: page.events, nextCursor: nextCursor(list, last, isEnd, readUpToHour) };
}

/** A page while it is filled. */
interface OpenPage extends Pick<EventsPage, 'events'> {
  readonly list: EventList;
  readonly limit: number;
  readonly meetsFilter: (event: StoredEvent) => boolean;
  bytes: number;
}

/** Position of the last event that was read, and whether the list has no further events at present. */
interface PageEnd {
  last: ListPosition | null;
  isEnd: boolean;
}

/** Reads on after a position until the page is full, or has events and the next ones would take another read. */
async function fillPage(
  { store, cpu }: EventContext,
  page: OpenPage,
  first: ListPosition | null,
  endBy: number,
): Promise<PageEnd> {
  const { tenant, order, type, target, filter } = page.list;
  if (target !== null && CONTROL.test(target.id)) return { last: first, isEnd: true };
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const limit = isFiltered ? SCANNED : page.limit;
  const scanLimit = isFiltered || type !== null ? SCANNED : page.limit;
  const search = { tenant, order, type, target, limit, scanLimit, maxBytes: limits.pageBytes };
  let after = first;
  for (let scans = 1; ; scans++) {
    const { events, last, isEnd, isCut, isAhead } = await readPage(store, { ...search, after });
    if (isAhead) throw feedCursorRefused(AHEAD);
    const pageEnd = await addEvents(page, events, after, cpu);
    if (pageEnd !== null) return pageEnd;
    after = last ?? after;
    const isLong = scans === SCANS || performance.now() >= endBy;
    if (isEnd || isCut || !isFiltered || page.events.length > 0 || isLong) return { last: after, isEnd };
  }
}

/** Adds the events that meet the filter. Returns where the page ends, or null if there is room for more events. */
async function addEvents(
  page: OpenPage,
  events: readonly StoredEvent[],
  after: ListPosition | null,
  cpu: Context['cpu'],
): Promise<PageEnd | null> {
  let last = after;
  for (const event of events) {
    if (page.bytes >= limits.pageBytes || page.events.length === page.limit) return { last, isEnd: false };
    if (isBeyond(event, page.list)) return { last, isEnd: true };
    last = event;
    const turn = cpu.turn(event.changes?.length ?? 0);
    if (turn !== undefined) await turn;
    if (!page.meetsFilter(event)) continue;
    const json = eventJson(event);
    page.events.push({ ...event, json });
    page.bytes += Buffer.byteLength(json);
  }
  return null;
}

/**
 * Whether the newest-first list has passed the start of the filter's period, so that no further event can
 * match.
 */
function isBeyond({ occurredAt }: StoredEvent, { order, filter }: EventList): boolean {
  return order === 'newest' && filter.since !== undefined && occurredAt < filter.since - CLOCK_SKEW_MS;
}

/**
 * Returns the position before which the newest-first list of all targets begins, found by bisection: every later event
 * occurred after the filter's period. null: begins at the newest event. After `endBy`, the best position so far is used.
 */
async function endOfPeriod(
  store: BatchingStore,
  { tenant, order, target, filter: { until } }: EventList,
  endBy: number,
): Promise<ListPosition | null> {
  if (order !== 'newest' || target !== null || until === undefined) return null;
  const one = { tenant, order, type: null, target, limit: 1, scanLimit: 1, maxBytes: 1 };
  const findLater = async (after: ListPosition | null) => {
    const { events } = await store.read({ kind: 'listEvents', ...one, after });
    return events.find(({ occurredAt }) => occurredAt >= until + CLOCK_SKEW_MS);
  };
  const newest = await findLater(null);
  if (newest === undefined) return null;
  let [from, to] = [0, newest.position];
  while (to - from > SCANNED && performance.now() < endBy) {
    const middle = from + Math.floor((to - from) / 2);
    const later = await findLater({ position: middle, eventId: '' });
    if (later === undefined) from = middle;
    else to = later.position;
  }
  return { position: to, eventId: '' };
}

function readPage(store: BatchingStore, search: ListSearch): Promise<ListedEvents> {
  const { target } = search;
  return target?.type === 'user_group'
    ? readHistoryPage(store, target, search)
    : store.read({ kind: 'listEvents', ...search });
}

/** Time that a reader who has not reached the end of the feed has read up to. */
function reachedHour(start: ListPosition | null, page: readonly StoredEvent[], now: number): number {
  if (start?.readUpToHour === undefined) return toHour(now);
  return Math.max(start.readUpToHour, toHour(page.at(-1)?.occurredAt ?? 0));
}

function toHour(time: number): number {
  return Math.floor(time / HOUR_MS);
}

/** Whether events that the reader has not read may have been deleted. */
function isExpired(start: ListPosition | null, retentionDays: number, now: number): boolean {
  if (start?.readUpToHour === undefined || retentionDays === 0) return false;
  return start.readUpToHour * HOUR_MS < now - retentionDays * DAY_MS + CLOCK_SKEW_MS;
}

/** `reason` completes "cursor is …". */
function feedCursorRefused(reason: string): Problem {
  return new Problem(
    'invalid_request',
    `cursor is ${reason}. Start without a cursor, and read again what you have copied.`,
  );
}

function nextCursor(
  list: EventList,
  last: ListPosition | null,
  isEnd: boolean,
  readUpToHour: number,
): string | null {
  const position = last ?? START;
  if (list.order === 'newest') return isEnd ? null : eventCursor(list, position);
  return eventCursor(list, { ...position, readUpToHour });
}
