// Records an event without a change.

import { byTenant } from '../../lock-order.ts';
import type { Command } from '../../port.ts';
import type { Session } from '../client/session.ts';
import { lockEnvironment } from '../document.ts';
import type { CommandExecutor } from '../executor.ts';
import { lockUserGroups } from '../user-group/user-group.ts';

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
