// Which of the events that were read are on a page: at most `limit` of the type, and none after one with which their
// changes come to `maxCharacters`.

import type { EventPosition, EventType } from '../domain/event.ts';
import type { EventPage, EventSearch } from './port.ts';

export interface EventCandidate extends EventPosition {
  type: EventType;
  /** Of its changes. */
  characters: number;
}

/** `candidates` are the next events of any type, of which one more than `scanLimit` was requested. */
export function pageOf(
  candidates: Iterable<EventCandidate>,
  { type, limit, scanLimit, maxCharacters }: EventSearch,
): Pick<EventPage, 'last' | 'isEnd'> {
  let last: EventPosition | null = null;
  let [scanned, taken, characters] = [0, 0, 0];
  for (const candidate of candidates) {
    if (scanned === scanLimit || taken === limit || characters >= maxCharacters)
      return { last, isEnd: false };
    last = { position: candidate.position, eventId: candidate.eventId };
    scanned++;
    if (type !== null && candidate.type !== type) continue;
    taken++;
    characters += candidate.characters;
  }
  return { last, isEnd: true };
}
