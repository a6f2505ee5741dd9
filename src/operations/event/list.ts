// Pages of events, newest first, or oldest first as a feed that a reader polls.

import type { Caller } from '../../domain/api-token.ts';
import { type EventList, eventCursor, eventCursorPosition, START } from '../../domain/event/cursor.ts';
import type { EventPosition, EventTarget, EventType } from '../../domain/event/event.ts';
import { eventJson } from '../../domain/event/json.ts';
import { limits } from '../../domain/field.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import type { Context } from '../context.ts';
import { cursorOfAnotherList } from '../list-cursor.ts';

export interface EventQuery {
  order: EventList['order'];
  limit: number;
  cursor?: string;
  type?: EventType;
  target?: EventTarget;
}

export interface EventsPage {
  /** In the form that callers see. */
  events: JsonText[];
  /** null at the end of the newest; the feed has no end. */
  nextCursor: string | null;
}

/** Events that a page with a filter reads; if few of them match, the page has fewer events than its limit, or none. */
const SCANNED = 1_000;

/**
 * The feed returns every event of the caller's workspace and environment exactly once, whatever is committed meanwhile.
 * Throws `invalid_request` for a cursor of another list.
 */
export async function listEvents(
  { store, cpu }: Pick<Context, 'store' | 'cpu'>,
  { workspaceId, environment }: Caller,
  { order, limit, cursor, type, target }: EventQuery,
): Promise<EventsPage> {
  const tenant = { workspaceId, environment };
  const list: EventList = { tenant, order, type: type ?? null, target: target ?? null };
  const after = cursor === undefined ? null : readCursor(list, cursor);
  const { events, last, isEnd } = await store.read({
    kind: 'listEvents',
    ...list,
    after,
    limit,
    scanLimit: type === undefined ? limit : SCANNED,
    maxBytes: limits.pageBytes,
  });
  const texts: JsonText[] = [];
  let bytes = 0;
  for (const event of events) {
    if (bytes >= limits.pageBytes)
      return { events: texts, nextCursor: nextCursor(list, events[texts.length - 1]!, false) };
    const turn = cpu.turn(event.changes?.length ?? 0);
    if (turn !== undefined) await turn;
    const text = eventJson(event);
    texts.push(text);
    bytes += Buffer.byteLength(text);
  }
  return { events: texts, nextCursor: nextCursor(list, last ?? after, isEnd) };
}

function nextCursor(list: EventList, last: EventPosition | null, isEnd: boolean): string | null {
  if (list.order === 'newest' && (isEnd || last === null)) return null;
  return eventCursor(list, last ?? START);
}

function readCursor(list: EventList, cursor: string): EventPosition {
  const position = eventCursorPosition(list, cursor);
  if (position !== null) return position;
  throw cursorOfAnotherList('order, type and target');
}
