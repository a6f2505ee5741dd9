import { EVENT } from '../../entities.ts';
import { type Call, run, statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import type { CommandExecutor } from '../executor.ts';
import { sentRows, toArrays } from '../sent-rows.ts';
import { POSITIONS } from './record.ts';

export const COPY = statement('copy_events')`
  insert into events (${EVENT.names})
  select ${EVENT.names} from ${sentRows(EVENT)}
  on conflict (bucket, workspace_id, environment, target_type, target_id, position) do nothing`;

// New events follow the copied ones.
export const RAISE_BASE = statement('raise_event_position_base')`
  update event_positions set base = $1 where base < $1`;

// Positions of deleted events are not reused after a restore: readers have seen them.
export const RAISE_FLOOR = statement('raise_event_position_floor')`
  update event_positions set deleted_to = $1 where deleted_to < $1`;

/** Runs in a transaction. Positions are unchanged, so that cursors of readers stay valid. */
export const copyEvents: CommandExecutor<'copyEvents'> = async (session, { events }) => {
  await session.query(COPY, toArrays(EVENT, events));
  await raiseBase(session, Math.max(...events.map(({ position }) => position)));
};

/** Runs in a transaction. */
export const raiseEventFloor: CommandExecutor<'raiseEventFloor'> = async (session, { floor }) => {
  await session.read(raiseFloor(floor));
  await raiseBase(session, floor);
};

export function raiseFloor(last: number): Call<void> {
  return run(RAISE_FLOOR, [last]);
}

async function raiseBase(session: Session, last: number): Promise<void> {
  await session.query(RAISE_BASE, [Math.floor(last / POSITIONS) + 1]);
}
