import { EVENT, RECORDED_EVENT } from '../../entities.ts';
import type { CommandExecutor } from '../executor.ts';

// On PostgreSQL, events of different targets can have the same position. A higher one here keeps the order: a
// reader with a cursor of the source may get events again, but misses none.
const COPY = `insert into events (${EVENT.names})
  values (${RECORDED_EVENT.parameters},
    max(?, 1 + coalesce((select max(position) from events), 0)))`;

const ADD_FLOOR = `insert into sqlite_sequence (name, seq)
  select 'events', 0 where not exists (select 1 from sqlite_sequence where name = 'events')`;
const RAISE_FLOOR = "update sqlite_sequence set seq = ? where name = 'events' and seq < ?";

export const copyEvents: CommandExecutor<'copyEvents'> = (connection, { events }) => {
  for (const event of events) connection.run(COPY, EVENT.cells(event));
};

export const raiseEventFloor: CommandExecutor<'raiseEventFloor'> = (connection, { floor }) => {
  connection.run(ADD_FLOOR, []);
  connection.run(RAISE_FLOOR, [floor, floor]);
};
