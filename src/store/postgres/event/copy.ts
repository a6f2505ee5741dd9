import { EVENT } from '../../entities.ts';
import { statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import type { CommandExecutor } from '../executor.ts';
import { sentRows, toArrays } from '../sent-rows.ts';
import { RAISE_FLOOR } from './delete.ts';
import { POSITIONS } from './record.ts';

export const COPY = statement('copy_events')`
  insert into events (${EVENT.names})
  select ${EVENT.names} from ${sentRows(EVENT)}
  on conflict (bucket, workspace_id, environment, target_type, target_id, position) do nothing`;

// New events follow the copied ones.
export const RAISE_BASE = statement('raise_event_position_base')`
  update event_positions set base = $1 where base < $1`;

/** Runs in a transaction. Positions are unchanged, so that cursors of readers stay valid. */
export const copyEvents: CommandExecutor<'copyEvents'> = async (session, { events }) => {
  await session.query(COPY, toArrays(EVENT, events));
  await raiseBase(session, Math.max(...events.map(({ position }) => position)));
};

/** Runs in a transaction. */
export const raiseEventFloor: CommandExecutor<'raiseEventFloor'> = async (session, { floor }) => {
  await session.query(RAISE_FLOOR, [floor]);
  await raiseBase(session, floor);
};

async function raiseBase(session: Session, last: number): Promise<void> {
  await session.query(RAISE_BASE, [Math.floor(last / POSITIONS) + 1]);
}
