// Keyset pagination of events: cursors encode the position of the last event that was read.

import { decodeCursor, encodeCursor, type ListName } from '../user-group/list-cursor.ts';
import type { EventPosition, EventTarget, EventType, Tenant } from './event.ts';

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

/** Before the first event. */
export const START: EventPosition = { position: 0, eventId: '' };

const POSITION = /^(\d{1,16}) ([\w-]*)$/;

export function eventCursor(list: EventList, { position, eventId }: EventPosition): string {
  return encodeCursor(eventListName(list), `${position} ${eventId}`);
}

/** The position that `eventCursor` encoded for this list; null for any other text. */
export function eventCursorPosition(list: EventList, cursor: string): EventPosition | null {
  const parts = POSITION.exec(decodeCursor(eventListName(list), cursor) ?? '');
  return parts && { position: Number(parts[1]), eventId: parts[2]! };
}

function eventListName({ tenant, order, type, target, filter }: EventList): ListName {
  const { targetType, actor, since, until, changed } = filter;
  const conditions = [targetType, actor, since, until, changed];
  const isFiltered = conditions.some((each) => each !== undefined);
  const place = [tenant.workspaceId, tenant.environment, order, type, target?.type, target?.id];
  return ['events', ...place, ...(isFiltered ? conditions : [])];
}
