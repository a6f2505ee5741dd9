// One event: found by its key, or recorded without a change.

import type { EventKey, StoredEvent } from '../../../domain/event/event.ts';
import { EVENT, EVENT_KEY } from '../../entities.ts';
import type { Command, Query } from '../../port.ts';
import { type Session, statement } from '../client/session.ts';
import type { Transaction } from '../executor.ts';
import { isSent, sentRows, toArrays } from '../sent-rows.ts';

export const FIND = statement('find_events')`
  select ${EVENT.namesIn('stored')}
  from events as stored, ${sentRows(EVENT_KEY)}
  where ${isSent(EVENT_KEY)}`;

export async function findEvents(
  session: Session,
  queries: readonly Query<'findEvent'>[],
): Promise<(StoredEvent | null)[]> {
  const keys = queries.map(({ key }) => key);
  const rows = await session.query(FIND, toArrays(EVENT_KEY, keys));
  // Events of different targets may have the same position.
  const found = new Map(EVENT.readAll(rows).map((event) => [eventName(event), event]));
  return keys.map((key) => found.get(eventName(key)) ?? null);
}

function eventName({ workspaceId, environment, target, position }: EventKey): string {
  return JSON.stringify([workspaceId, environment, target.type, target.id, position]);
}

export async function recordEvent(
  _: Session,
  { event }: Command<'recordEvent'>,
  { recordings }: Transaction,
): Promise<null> {
  recordings.push({ event });
  return null;
}
