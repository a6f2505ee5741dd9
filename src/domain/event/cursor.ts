// Keyset pagination of events: cursors encode the position of the last event that was read.

import { decodeCursor, encodeCursor, type ListName } from '../cursor.ts';
import type { Tenant } from '../tenant.ts';
import type { EventPosition, EventTarget, EventType } from './event.ts';
import type { EventFilter } from './filter.ts';

/** A list of events that a caller can request. Its pages may differ in size. */
export interface EventList {
  tenant: Tenant;
  order: 'newest' | 'oldest';
  /** null: of all types. */
  type: EventType | null;
  /** null: of all targets. */
  target: EventTarget | null;
  filter: EventFilter;
}

/** The position after which a list continues. */
export interface ListPosition extends EventPosition {
  place?: HistoryPlace;
  /**
   * Time up to which the reader of a feed has read everything, in hours since 1970: the cursor of an empty page changes
   * once an hour. Until it reaches the end for the first time, the time at which it began. Absent in cursors of earlier
   * versions.
   */
  readUpToHour?: number;
}

/** Part of the history of a renamed user group that has the position: events with this id before `before`. */
interface HistoryPlace {
  id: string;
  before: number;
  /** Position of the last rename of the group: after another one, the id has another history. */
  lastRename: number;
}

/** Position before the first event. */
export const START: EventPosition = { position: 0, eventId: '' };

const POSITION = /^(\d{1,16}) ([\w-]*?)(?:_h(\d{1,8}))?(?: (\d{1,16}) (\d{1,16}) (\P{Cc}+))?$/u;

export function eventCursor(
  list: EventList,
  { position, eventId, place, readUpToHour }: ListPosition,
): string {
  // Part of the event id for earlier versions, which find the same events after it.
  const hour = readUpToHour === undefined ? '' : `_h${readUpToHour}`;
  const more = place === undefined ? '' : ` ${place.before} ${place.lastRename} ${place.id}`;
  return encodeCursor(eventListName(list), `${position} ${eventId}${hour}${more}`);
}

/** The position that `eventCursor` encoded for this list; null for any other text. */
export function eventCursorPosition(list: EventList, cursor: string): ListPosition | null {
  const parts = POSITION.exec(decodeCursor(eventListName(list), cursor) ?? '');
  if (parts === null) return null;
  const [, position, eventId, hour, before, lastRename, id] = parts;
  const found = {
    position: Number(position),
    eventId: eventId!,
    ...(hour !== undefined && { readUpToHour: Number(hour) }),
  };
  if (id === undefined) return found;
  return { ...found, place: { id, before: Number(before), lastRename: Number(lastRename) } };
}

function eventListName({ tenant, order, type, target, filter }: EventList): ListName {
  const { targetType, actor, actorText, since, until, changed, requestId } = filter;
  const conditions = [
    targetType,
    actor,
    since,
    until,
    changed,
    // Added only if set, so that cursors of earlier versions stay valid.
    ...(actorText === undefined && requestId === undefined ? [] : [actorText]),
    ...(requestId === undefined ? [] : [requestId]),
  ];
  const isFiltered = conditions.some((each) => each !== undefined);
  const place = [tenant.workspaceId, tenant.environment, order, type, target?.type, target?.id];
  return ['events', ...place, ...(isFiltered ? conditions : [])];
}
