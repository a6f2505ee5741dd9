import type { Command } from '../../port.ts';
import { EVENT_COLUMNS, fromEvent } from '../../row-mapping.ts';
import type { Connection } from '../file/connection.ts';

// On PostgreSQL, events of different targets can have the same position. A higher one keeps the order: a reader with a
// cursor of the source may get events again, but misses none.
const COPY = `insert into events (${EVENT_COLUMNS}, position)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
    max(?13, 1 + coalesce((select max(position) from events), 0)))`;

export function copyEvents(connection: Connection, { events }: Command<'copyEvents'>): null {
  for (const event of events)
    connection.run(COPY, [...fromEvent(event, event.version, event.changes), event.position]);
  return null;
}
