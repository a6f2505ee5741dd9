// Selects the events of a page: at most `limit` of the type, up to the one at which the changes reach
// `maxBytes` in total.

import {
  EVERY_POSITION,
  type EventPosition,
  type EventType,
  type PositionRange,
} from '../domain/event/event.ts';
import type { EventPage, EventSearch } from './port.ts';

export interface EventCandidate extends EventPosition {
  type: EventType;
  /** Size of its changes. */
  bytes: number;
}

/** `candidates` are the next events of any type; one more than `scanLimit` was requested. */
export function selectPage(
  candidates: Iterable<EventCandidate>,
  { type, limit, scanLimit, maxBytes }: EventSearch,
): Pick<EventPage, 'last' | 'isEnd'> & { positions: readonly number[] } {
  let last: EventPosition | null = null;
  const positions: number[] = [];
  let [scanned, bytes] = [0, 0];
  for (const candidate of candidates) {
    if (scanned === scanLimit || positions.length === limit || bytes >= maxBytes)
      return { positions, last, isEnd: false };
    last = { position: candidate.position, eventId: candidate.eventId };
    scanned++;
    if (type !== null && candidate.type !== type) continue;
    positions.push(candidate.position);
    bytes += candidate.bytes;
  }
  return { positions, last, isEnd: true };
}

/** Returns the range of positions that is left for a search that continues after `after`. */
export function searchRange({ order, range = EVERY_POSITION, after }: EventSearch): PositionRange {
  if (after === null) return range;
  return order === 'newest'
    ? { after: range.after, upTo: Math.min(range.upTo, after.position - 1) }
    : { after: Math.max(range.after, after.position), upTo: range.upTo };
}
