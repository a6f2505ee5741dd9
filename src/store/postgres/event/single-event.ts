// One event: found by its key, or recorded without a change.

import type { EventKey } from '../../../domain/event/event.ts';
import { EVENT, EVENT_KEY } from '../../entities.ts';
import type { Command } from '../../port.ts';
import { statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import { lockEnvironment } from '../document.ts';
import type { CommandExecutor, QueryBatchExecutor } from '../executor.ts';
import { isSent, sentRows, toArrays } from '../sent-rows.ts';
import { byTenant, lockUserGroups } from '../user-group/user-group.ts';

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

/**
 * Locks the targets of the events, as every change of them does, so that the events of a target are committed
 * in the order of their positions. Locks in the order of a rename: groups first, then environments.
 */
export async function lockTargets(
  session: Session,
  commands: readonly Pick<Command<'recordEvent'>, 'event'>[],
): Promise<void> {
  const events = commands.map(({ event }) => event);
  const keys = events
    .filter(({ target }) => target.type === 'user_group')
    .map(({ target, ...event }) => ({ key: { ...event, providedId: target.id } }));
  const others = events.filter(({ target }) => target.type !== 'user_group');
  await session.pipelined(() => [
    keys.length > 0 && lockUserGroups(session, keys),
    ...others.toSorted(byTenant).map((event) => session.perform(lockEnvironment(event))),
  ]);
}

/** Runs in a transaction. */
export const recordEvent: CommandExecutor<'recordEvent'> = async (session, command, { recordings }) => {
  await lockTargets(session, [command]);
  recordings.push({ event: command.event });
};
