import type { Command } from '../../port.ts';
import { EVENT_COLUMNS, fromEvent } from '../../row-mapping.ts';
import type { Session, Statement } from '../client/pool.ts';
import { POSITIONS } from './event.ts';

export const COPY: Statement = {
  name: 'copy_events',
  sql: `insert into events (${EVENT_COLUMNS}, position)
    select ${EVENT_COLUMNS}, position
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::bigint[], $9::text[], $10::text[], $11::bigint[], $12::text[], $13::bigint[])
      as sent (${EVENT_COLUMNS}, position)
    on conflict (bucket, workspace_id, environment, target_type, target_id, position) do nothing`,
};

// New events follow the copied ones.
export const RAISE_BASE: Statement = {
  name: 'raise_event_position_base',
  sql: 'update event_positions set base = $1 where base < $1',
};

/** Runs in a transaction. Positions are unchanged, so that cursors of readers stay valid. */
export async function copyEvents(session: Session, { events }: Command<'copyEvents'>): Promise<null> {
  const rows = events.map((event) => [...fromEvent(event, event.version, event.changes), event.position]);
  const columns = [...EVENT_COLUMNS.split(', '), 'position'].map((_, column) =>
    rows.map((row) => row[column]),
  );
  await session.query(COPY, columns);
  const last = Math.max(...events.map(({ position }) => position));
  await session.query(RAISE_BASE, [Math.floor(last / POSITIONS) + 1]);
  return null;
}
