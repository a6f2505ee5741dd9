// One event: found by its key, or recorded without a change.

import type { EventKey } from '../../../domain/event/event.ts';
import { EVENT, EVENT_KEY } from '../../entities.ts';
import { statement } from '../../statement.ts';
import type { CommandExecutor, QueryBatchExecutor } from '../executor.ts';
import { isSent, sentRows, toArrays } from '../sent-rows.ts';

export const FIND = statement('find_events')`
  select ${EVENT.namesIn('stored')}
  from events as stored, ${sentRows(EVENT_KEY)}
  where ${isSent(EVENT_KEY)}`;

export const findEvents: QueryBatchExecutor<'findEvent'> = async (session, queries) => {
  const keys = queries.map(({ key }) => key);
  const rows = await session.query(FIND, toArrays(EVENT_KEY, keys));
  // Events of different targets may have the same position.
  const found = new Map(EVENT.readAll(rows).map((event) => [eventName(event), event]));
  return keys.map((key) => found.get(eventName(key)) ?? null);
};

function eventName({ workspaceId, environment, target, position }: EventKey): string {
  return JSON.stringify([workspaceId, environment, target.type, target.id, position]);
}

export const recordEvent: CommandExecutor<'recordEvent'> = async (_, { event }, { recordings }) => {
  recordings.push({ event });
  return null;
};
