// Events, and the webhook deliveries that they cause.
//
// The position of an event is the id of its transaction plus a base. A feed stops before the oldest transaction that is
// still running: an event that commits later has a later position.

import {
  bucketOfTarget,
  type EventKey,
  type NewEvent,
  type StoredEvent,
  type Tenant,
} from '../../domain/event.ts';
import type { JsonText } from '../../domain/strict-json.ts';
import type { TokenDigest } from '../../domain/token.ts';
import type { Environment } from '../../domain/user-group.ts';
import type { Command, EventSearch, Query } from '../port.ts';
import { EVENT_COLUMNS, fromEvent, toEvent } from '../row-mapping.ts';
import type { Session, Statement } from './client/pool.ts';

const BASE = '(select base from event_positions)';
const POSITION = `${BASE} + pg_current_xact_id()::text::bigint`;
const HORIZON = `${BASE} + pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;

export const INSERT: Statement = {
  name: 'insert_events',
  sql: `insert into events (${EVENT_COLUMNS}, position)
    select ${EVENT_COLUMNS}, ${POSITION}
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::bigint[], $9::text[], $10::text[], $11::bigint[], $12::text[])
      as sent (${EVENT_COLUMNS})
    on conflict do nothing`,
};

// For changes that a statement of the same pipeline may or may not make: the group has the token exactly if it did.
export const INSERT_FOR_TOKENS: Statement = {
  name: 'insert_events_for_tokens',
  sql: `insert into events (${EVENT_COLUMNS}, position)
    select bucket, user_groups.workspace_id, user_groups.environment, 'user_group', user_groups.provided_id,
      sent.event_id, sent.type, sent.occurred_at, sent.actor, sent.request_id, user_groups.version, sent.changes,
      ${POSITION}
    from unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
      as sent (bucket, token_digest, event_id, type, occurred_at, actor, request_id, changes)
    join user_groups using (bucket, token_digest)
    on conflict do nothing`,
};

// An event that was not inserted has no deliveries.
export const INSERT_DELIVERIES: Statement = {
  name: 'insert_deliveries',
  sql: `insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type,
      target_id, state, attempts, next_attempt_at, created_at)
    select bucket, workspace_id, environment, sent.endpoint_id, event_id, events.type, target_type, target_id,
      'pending', 0, events.occurred_at, events.occurred_at
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
      as sent (bucket, workspace_id, environment, target_type, target_id, event_id, endpoint_id)
    join events using (bucket, workspace_id, environment, target_type, target_id, event_id)
    on conflict do nothing`,
};

const SELECT = `select ${EVENT_COLUMNS}, position from events where workspace_id = $1 and environment = $2`;
const OF_TARGET = `${SELECT} and bucket = $3 and target_type = $4 and target_id = $5`;

export const FEED_NEWEST: Statement = {
  name: 'list_events_newest',
  sql: `${SELECT} and (position, event_id) < ($3, $4) order by position desc, event_id desc limit $5`,
};

export const FEED_OLDEST: Statement = {
  name: 'list_events_oldest',
  sql: `${SELECT} and (position, event_id) > ($3, $4) and position < ${HORIZON}
    order by position, event_id limit $5`,
};

export const TARGET_NEWEST: Statement = {
  name: 'list_target_events_newest',
  sql: `${OF_TARGET} and event_id < $6 order by event_id desc limit $7`,
};

export const TARGET_OLDEST: Statement = {
  name: 'list_target_events_oldest',
  sql: `${OF_TARGET} and event_id > $6 order by event_id limit $7`,
};

export const NEXT_TENANT: Statement = {
  name: 'find_next_tenant',
  sql: `select workspace_id, environment from events where (workspace_id, environment) > ($1, $2)
    order by workspace_id, environment limit 1`,
};

const OF_SENT = `stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.target_type = sent.target_type
      and stored.target_id = sent.target_id`;

export const DELETE: Statement = {
  name: 'delete_events',
  sql: `delete from events as stored
    using unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
      as sent (bucket, workspace_id, environment, target_type, target_id, event_id)
    where ${OF_SENT} and stored.event_id = sent.event_id`,
};

export const ERASE: Statement = {
  name: 'erase_event_changes',
  sql: `update events as stored set changes = null
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[])
      as sent (bucket, workspace_id, environment, target_type, target_id)
    where ${OF_SENT} and stored.changes is not null`,
};

export const FIND_ERASABLE: Statement = {
  name: 'find_erasable_events',
  sql: `select event_id from events
    where bucket = $1 and workspace_id = $2 and environment = $3 and target_type = $4 and target_id = $5
      and changes is not null
    order by event_id limit $6`,
};

export const ERASE_EACH: Statement = {
  name: 'erase_each_event_changes',
  sql: `update events set changes = null
    where bucket = $1 and workspace_id = $2 and environment = $3 and target_type = $4 and target_id = $5
      and event_id = any ($6::text[])`,
};

/** An event of a change that was made. */
export interface Recording {
  event: NewEvent;
  version: number | null;
  changes: JsonText | null;
}

/** An event of a change that is made if the group has the token. */
export interface TokenRecording {
  event: NewEvent;
  tokenDigest: TokenDigest;
  changes: JsonText | null;
}

/** Sends its statements before it awaits. */
export async function record(session: Session, recordings: readonly Recording[]): Promise<void> {
  if (recordings.length === 0) return;
  const rows = recordings.map(({ event, version, changes }) => fromEvent(event, version, changes));
  await Promise.all([
    session.query(
      INSERT,
      EVENT_COLUMNS.split(', ').map((_, column) => rows.map((row) => row[column])),
    ),
    recordDeliveries(session, recordings),
  ]);
}

/** Sends its statements before it awaits. */
export async function recordForTokens(
  session: Session,
  recordings: readonly TokenRecording[],
): Promise<void> {
  if (recordings.length === 0) return;
  await Promise.all([
    session.query(INSERT_FOR_TOKENS, [
      recordings.map(({ event }) => event.bucket),
      recordings.map(({ tokenDigest }) => tokenDigest),
      recordings.map(({ event }) => event.eventId),
      recordings.map(({ event }) => event.type),
      recordings.map(({ event }) => event.occurredAt),
      recordings.map(({ event }) => JSON.stringify(event.actor)),
      recordings.map(({ event }) => event.requestId),
      recordings.map(({ changes }) => changes),
    ]),
    recordDeliveries(session, recordings),
  ]);
}

async function recordDeliveries(session: Session, recordings: readonly { event: NewEvent }[]): Promise<void> {
  const deliveries = recordings.flatMap(({ event }) =>
    event.endpoints.map((endpointId) => ({ event, endpointId })),
  );
  if (deliveries.length === 0) return;
  await session.query(INSERT_DELIVERIES, [
    ...columnsOfKeys(deliveries.map(({ event }) => event)),
    deliveries.map(({ endpointId }) => endpointId),
  ]);
}

/** The events of commands that have one. */
export function recordings<Command extends { event?: NewEvent | undefined }>(
  commands: readonly Command[],
  toRecording: (command: Command, event: NewEvent) => Recording | null,
): Recording[] {
  return commands.flatMap((command) => (command.event && toRecording(command, command.event)) ?? []);
}

export async function listEvents(session: Session, search: EventSearch): Promise<StoredEvent[]> {
  const { of, target, order, after, limit, maxCharacters } = search;
  const tenant = [of.workspaceId, of.environment];
  const rows =
    target === null
      ? await session.query(order === 'newest' ? FEED_NEWEST : FEED_OLDEST, [
          ...tenant,
          ...boundsOfFeed(order, after),
          limit,
        ])
      : await session.query(order === 'newest' ? TARGET_NEWEST : TARGET_OLDEST, [
          ...tenant,
          bucketOfTarget(of, target),
          target.type,
          target.id,
          after?.eventId ?? (order === 'newest' ? LAST_ID : ''),
          limit,
        ]);
  return fitting(rows.map(toEvent), maxCharacters);
}

/** Sorts after every event id. */
const LAST_ID = '~';

function boundsOfFeed(order: EventSearch['order'], after: EventSearch['after']): [number, string] {
  if (after !== null) return [after.position, after.eventId];
  return order === 'newest' ? [Number.MAX_SAFE_INTEGER, LAST_ID] : [0, ''];
}

function fitting(events: readonly StoredEvent[], maxCharacters: number): StoredEvent[] {
  let characters = 0;
  const last = events.findIndex(({ changes }) => {
    characters += changes?.length ?? 0;
    return characters >= maxCharacters;
  });
  return last === -1 ? [...events] : events.slice(0, last + 1);
}

export async function findNextTenant(
  session: Session,
  { after }: Query<'findNextTenant'>,
): Promise<Tenant | null> {
  const [row] = await session.query(NEXT_TENANT, [after?.workspaceId ?? 0, after?.environment ?? '']);
  return row === undefined ? null : { workspaceId: row[0] as number, environment: row[1] as Environment };
}

export async function deleteEvents(session: Session, { keys }: Command<'deleteEvents'>): Promise<null> {
  await session.query(DELETE, columnsOfKeys(keys));
  return null;
}

/** All changes of the targets. */
export async function eraseAllChanges(
  session: Session,
  targets: readonly Omit<EventKey, 'eventId'>[],
): Promise<void> {
  if (targets.length === 0) return;
  await session.query(ERASE, columnsOfTargets(targets));
}

export async function eraseChanges(
  session: Session,
  { bucket, workspaceId, environment, target, limit }: Command<'eraseChanges'>,
): Promise<number> {
  const values = [bucket, workspaceId, environment, target.type, target.id];
  const eventIds = (await session.query(FIND_ERASABLE, [...values, limit])).map(([eventId]) => eventId);
  if (eventIds.length > 0) await session.query(ERASE_EACH, [...values, eventIds]);
  return eventIds.length;
}

function columnsOfTargets(keys: readonly Omit<EventKey, 'eventId'>[]): unknown[][] {
  return [
    keys.map(({ bucket }) => bucket),
    keys.map(({ workspaceId }) => workspaceId),
    keys.map(({ environment }) => environment),
    keys.map(({ target }) => target.type),
    keys.map(({ target }) => target.id),
  ];
}

function columnsOfKeys(keys: readonly EventKey[]): unknown[][] {
  return [...columnsOfTargets(keys), keys.map(({ eventId }) => eventId)];
}
