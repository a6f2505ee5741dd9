// Events and the webhook deliveries that they cause.

import type { NewEvent, StoredEvent, Tenant } from '../../domain/event.ts';
import type { JsonText } from '../../domain/strict-json.ts';
import type { Environment } from '../../domain/user-group.ts';
import type { Command, EventSearch, Query } from '../port.ts';
import { EVENT_COLUMNS, fromEvent, toEvent } from '../row-mapping.ts';
import type { Connection, Value } from './connection.ts';

const INSERT = `insert into events (${EVENT_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_DELIVERY = `insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type,
    target_type, target_id, state, attempts, next_attempt_at, created_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?)`;
const DELETE = `delete from events
  where workspace_id = ? and environment = ? and target_type = ? and target_id = ? and event_id = ?`;
const ERASE = `update events set changes = null where position in (
    select position from events
    where workspace_id = ? and environment = ? and target_type = ? and target_id = ? and changes is not null
    order by event_id limit ?)`;
const NEXT_TENANT = `select workspace_id, environment from events where (workspace_id, environment) > (?, ?)
  order by workspace_id, environment limit 1`;

/** Does nothing without an event. */
export function record(
  connection: Connection,
  event: NewEvent | undefined,
  version: number | null,
  changes: JsonText | null,
): void {
  if (event === undefined) return;
  connection.run(INSERT, fromEvent(event, version, changes));
  const { bucket, workspaceId, environment, eventId, type, target, occurredAt } = event;
  for (const endpoint of event.endpoints) {
    const delivery = [bucket, workspaceId, environment, endpoint, eventId, type, target.type, target.id];
    connection.run(INSERT_DELIVERY, [...delivery, occurredAt, occurredAt]);
  }
}

/** Ends early after `maxCharacters`. */
export function listEvents(connection: Connection, search: EventSearch): StoredEvent[] {
  const { sql, values } = statementOf(search);
  const events: StoredEvent[] = [];
  let characters = 0;
  for (const row of connection.iterate(sql, values)) {
    const event = toEvent(row);
    events.push(event);
    characters += event.changes?.length ?? 0;
    if (characters >= search.maxCharacters) break;
  }
  return events;
}

function statementOf({ of, target, order, after, limit }: EventSearch): { sql: string; values: Value[] } {
  const tenant = [of.workspaceId, of.environment];
  const comparison = order === 'newest' ? '<' : '>';
  const direction = order === 'newest' ? 'desc' : 'asc';
  const select = `select ${EVENT_COLUMNS}, position from events where workspace_id = ? and environment = ?`;
  if (target === null) {
    const where = after === null ? '' : `and position ${comparison} ?`;
    const sql = `${select} ${where} order by position ${direction} limit ?`;
    return { sql, values: [...tenant, ...(after === null ? [] : [after.position]), limit] };
  }
  const where = `and target_type = ? and target_id = ? ${after === null ? '' : `and event_id ${comparison} ?`}`;
  const sql = `${select} ${where} order by event_id ${direction} limit ?`;
  return {
    sql,
    values: [...tenant, target.type, target.id, ...(after === null ? [] : [after.eventId]), limit],
  };
}

export function findNextTenant(connection: Connection, { after }: Query<'findNextTenant'>): Tenant | null {
  const row = connection.get(NEXT_TENANT, [after?.workspaceId ?? 0, after?.environment ?? '']);
  return row === undefined ? null : { workspaceId: row[0] as number, environment: row[1] as Environment };
}

export function deleteEvents(connection: Connection, { keys }: Command<'deleteEvents'>): null {
  for (const { workspaceId, environment, target, eventId } of keys)
    connection.run(DELETE, [workspaceId, environment, target.type, target.id, eventId]);
  return null;
}

export function eraseChanges(
  connection: Connection,
  { workspaceId, environment, target, limit }: Omit<Command<'eraseChanges'>, 'kind' | 'bucket'>,
): number {
  return connection.run(ERASE, [workspaceId, environment, target.type, target.id, limit]);
}
