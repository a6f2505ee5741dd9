// Keyset pagination of events: cursors encode the position of the last event that was read.

import { hash } from 'node:crypto';
import type { EventPosition, EventTarget, EventType, Tenant } from './event.ts';

/** A list of events that a caller can request. Its pages may differ in size. */
export interface EventList {
  of: Tenant;
  order: 'newest' | 'oldest';
  /** null: of all types. */
  type: EventType | null;
  /** null: of all targets. */
  target: EventTarget | null;
}

/** Before the first event. */
export const START: EventPosition = { position: 0, eventId: '' };

/** 132 bits, in base64url. */
const CHECKSUM_LENGTH = 22;
const PAYLOAD = /^(\d{1,16}) ([\w-]*)$/;

/**
 * The position as text, with a checksum over the list, so that a modified cursor or one of another list is rejected. The
 * checksum needs no key: a forged cursor only starts the caller's own list at another position.
 */
export function eventCursorOf(list: EventList, { position, eventId }: EventPosition): string {
  return withChecksum(list, `${position} ${eventId}`);
}

/** The position that `eventCursorOf` encoded for this list; null for any other text. */
export function eventPositionOf(list: EventList, cursor: string): EventPosition | null {
  const payload = Buffer.from(cursor.slice(CHECKSUM_LENGTH), 'base64url').toString();
  const parts = PAYLOAD.exec(payload);
  if (parts === null || withChecksum(list, payload) !== cursor) return null;
  return { position: Number(parts[1]), eventId: parts[2]! };
}

function withChecksum({ of, order, type, target }: EventList, payload: string): string {
  const key = ['events', of.workspaceId, of.environment, order, type, target?.type, target?.id, payload];
  const checksum = hash('sha256', JSON.stringify(key), 'base64url').slice(0, CHECKSUM_LENGTH);
  return checksum + Buffer.from(payload).toString('base64url');
}
