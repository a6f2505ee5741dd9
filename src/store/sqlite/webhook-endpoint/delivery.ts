// Webhook deliveries. They are created together with their event (event.ts).

import type { Environment } from '../../../domain/user-group/user-group.ts';
import {
  type Delivery,
  type EndpointPosition,
  startOfWorkspace,
  type WebhookEndpointKey,
} from '../../../domain/webhook-endpoint/delivery.ts';
import type {
  ClaimedDeliveries,
  Command,
  EndpointHealth,
  FailingEndpoint,
  PendingEndpoint,
  Query,
} from '../../port.ts';
import { DELIVERY_COLUMNS, toDelivery } from '../../row-mapping.ts';
import type { Connection, Row } from '../file/connection.ts';

const OF_ENDPOINT = 'workspace_id = ? and environment = ? and endpoint_id = ?';
const LIST = `select ${DELIVERY_COLUMNS} from deliveries where ${OF_ENDPOINT} and event_id < ?
  order by event_id desc limit ?`;
const SCAN = `select ${DELIVERY_COLUMNS} from deliveries
  where (workspace_id, environment, endpoint_id, event_id) > (?, ?, ?, ?)
  order by workspace_id, environment, endpoint_id, event_id limit ?`;
const NEXT_PENDING = `select workspace_id, environment, endpoint_id, next_attempt_at from deliveries
  where next_attempt_at is not null and (workspace_id, environment, endpoint_id) > (?, ?, ?)
  order by workspace_id, environment, endpoint_id, next_attempt_at limit 1`;
const COUNT_PENDING =
  'select count(*) from (select 1 from deliveries where next_attempt_at is not null limit ?)';
const COUNT_PENDING_OF = `select count(*) from (
  select 1 from deliveries where ${OF_ENDPOINT} and next_attempt_at is not null limit ?)`;
const FIND_DUE = `select ${DELIVERY_COLUMNS} from deliveries where ${OF_ENDPOINT} and next_attempt_at <= ?
  order by next_attempt_at limit ?`;
const CLAIM = `update deliveries set next_attempt_at = ? where ${OF_ENDPOINT} and event_id = ?`;
const FINISH = `update deliveries set state = ?1, attempts = attempts + 1, next_attempt_at = ?2, last_attempt_at = ?3,
    response_status = ?4, error = ?5
  where workspace_id = ?6 and environment = ?7 and endpoint_id = ?8 and event_id = ?9 and state = 'pending'
    and (?1 = 'delivered' or next_attempt_at = ?10)`;
const RETRY = `update deliveries set state = 'pending', attempts = 0, next_attempt_at = ?
  where ${OF_ENDPOINT} and event_id = ?`;
const CANCEL = `update deliveries set state = 'failed', next_attempt_at = null, error = ?
  where ${OF_ENDPOINT} and event_id in (
    select event_id from deliveries where ${OF_ENDPOINT} and next_attempt_at is not null limit ?)`;
const DELETE = `delete from deliveries where ${OF_ENDPOINT} and event_id in (
    select event_id from deliveries where ${OF_ENDPOINT} order by event_id limit ?)`;
const FAILING_SINCE = `select failing_since from failing_webhook_endpoints where ${OF_ENDPOINT}`;
const SCAN_FAILING = `select workspace_id, environment, endpoint_id, failing_since from failing_webhook_endpoints
  where (workspace_id, environment, endpoint_id) > (?, ?, ?)
  order by workspace_id, environment, endpoint_id limit ?`;
const SET_FAILING = `insert into failing_webhook_endpoints (workspace_id, environment, endpoint_id, failing_since)
  values (?, ?, ?, ?) on conflict do nothing`;
const CLEAR_FAILING = `delete from failing_webhook_endpoints where ${OF_ENDPOINT}`;

/** Sorts after every event id. */
const LAST_ID = '~';
const FIRST_ENDPOINT = startOfWorkspace(0);

export function listDeliveries(
  connection: Connection,
  { of, before, limit }: Query<'listDeliveries'>,
): Delivery[] {
  return connection.all(LIST, [...partsOf(of), before ?? LAST_ID, limit]).map(toDelivery);
}

export function scanDeliveries(
  connection: Connection,
  { after, limit }: Query<'scanDeliveries'>,
): Delivery[] {
  const key = [...partsOf(after ?? FIRST_ENDPOINT), after?.eventId ?? ''];
  return connection.all(SCAN, [...key, limit]).map(toDelivery);
}

export function scanFailingEndpoints(
  connection: Connection,
  { after, limit }: Query<'scanFailingEndpoints'>,
): FailingEndpoint[] {
  const rows = connection.all(SCAN_FAILING, [...partsOf(after ?? FIRST_ENDPOINT), limit]);
  return rows.map((row) => ({ ...toEndpointKey(row), failingSince: row[3] as number }));
}

export function findPendingEndpoint(
  connection: Connection,
  { after }: Query<'findPendingEndpoint'>,
): PendingEndpoint | null {
  const row = connection.get(NEXT_PENDING, partsOf(after));
  return row === undefined ? null : { endpoint: toEndpointKey(row), dueAt: row[3] as number };
}

export function countPendingDeliveries(
  connection: Connection,
  { atMost }: Query<'countPendingDeliveries'>,
): number {
  return connection.get(COUNT_PENDING, [atMost])![0] as number;
}

export function findEndpointHealth(
  connection: Connection,
  { of, atMost }: Query<'findEndpointHealth'>,
): EndpointHealth {
  const [pendingDeliveries] = connection.get(COUNT_PENDING_OF, [...partsOf(of), atMost]) as [number];
  return { pendingDeliveries, failingSince: failingSince(connection, of) };
}

export function claimDeliveries(
  connection: Connection,
  { of, now, until, limit }: Command<'claimDeliveries'>,
): ClaimedDeliveries {
  const due = connection.all(FIND_DUE, [...partsOf(of), now, limit]).map(toDelivery);
  for (const { eventId } of due) connection.run(CLAIM, [until, ...partsOf(of), eventId]);
  const deliveries = due.map((delivery) => ({ ...delivery, nextAttemptAt: until }));
  return { deliveries, failingSince: failingSince(connection, of) };
}

export function finishAttempts(connection: Connection, { attempts }: Command<'finishAttempts'>): null {
  for (const { key, claimedUntil, state, nextAttemptAt, attemptedAt, responseStatus, error } of attempts) {
    const change = [state, nextAttemptAt, attemptedAt, responseStatus, error];
    connection.run(FINISH, [...change, ...partsOf(key), key.eventId, claimedUntil]);
  }
  return null;
}

export function retryDelivery(
  connection: Connection,
  { of, eventId, now }: Command<'retryDelivery'>,
): boolean {
  return connection.run(RETRY, [now, ...partsOf(of), eventId]) === 1;
}

export function cancelDeliveries(
  connection: Connection,
  { of, error, limit }: Command<'cancelDeliveries'>,
): number {
  return connection.run(CANCEL, [error, ...partsOf(of), ...partsOf(of), limit]);
}

export function deleteDeliveries(connection: Connection, { of, limit }: Command<'deleteDeliveries'>): number {
  return connection.run(DELETE, [...partsOf(of), ...partsOf(of), limit]);
}

export function setFailingSince(
  connection: Connection,
  { of, since }: Command<'setFailingSince'>,
): number | null {
  if (since === null) connection.run(CLEAR_FAILING, partsOf(of));
  else connection.run(SET_FAILING, [...partsOf(of), since]);
  return failingSince(connection, of);
}

function failingSince(connection: Connection, of: WebhookEndpointKey): number | null {
  return (connection.get(FAILING_SINCE, partsOf(of))?.[0] as number | undefined) ?? null;
}

function partsOf({ workspaceId, environment, endpointId }: EndpointPosition): [number, string, string] {
  return [workspaceId, environment, endpointId];
}

function toEndpointKey([workspaceId, environment, endpointId]: Row): WebhookEndpointKey {
  return {
    workspaceId: workspaceId as number,
    environment: environment as Environment,
    endpointId: endpointId as string,
  };
}
