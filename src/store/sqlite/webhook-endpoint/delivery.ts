// Webhook deliveries. They are created together with their event (event/record.ts).

import { documentTag } from '../../../domain/document.ts';
import type { VersionTag } from '../../../domain/user-group/user-group.ts';
import type { WebhookEndpointKey } from '../../../domain/webhook-endpoint/delivery.ts';
import { endpointDocumentKey } from '../../../domain/webhook-endpoint/webhook-endpoint.ts';
import { DELIVERY, ENDPOINT_POSITION, WEBHOOK_ENDPOINT_KEY } from '../../entities.ts';
import { failingSince, READS } from '../../reads.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import type { Connection } from '../file/connection.ts';
import { nextKey } from '../next-key.ts';

const HAS_ENDPOINT = 'workspace_id = ? and environment = ? and endpoint_id = ?';
const findNextPending = nextKey(
  ENDPOINT_POSITION,
  (condition) => `select ${WEBHOOK_ENDPOINT_KEY.names}, next_attempt_at from deliveries
    where next_attempt_at is not null and ${condition}
    order by workspace_id, environment, endpoint_id, next_attempt_at limit 1`,
);
const FIND_FAILED = `select event_id from deliveries where ${HAS_ENDPOINT} and state = 'failed' and event_id > ?
  order by event_id limit ?`;
const FIND_DUE = `select ${DELIVERY.names} from deliveries where ${HAS_ENDPOINT} and next_attempt_at between ? and ?
  order by next_attempt_at limit ?`;
const CLAIM = `update deliveries set next_attempt_at = ? where ${HAS_ENDPOINT} and event_id = ?`;
const FINISH = `update deliveries set state = ?1, attempts = attempts + 1, next_attempt_at = ?2, last_attempt_at = ?3,
    response_status = ?4, error = ?5, attempt_log = ?6
  where workspace_id = ?7 and environment = ?8 and endpoint_id = ?9 and event_id = ?10
    and (next_attempt_at = ?11 or ?1 = 'delivered' and (state = 'failed' or next_attempt_at > ?11))`;
const RETRY = `update deliveries set state = 'pending', attempts = 0, next_attempt_at = ?
  where ${HAS_ENDPOINT} and event_id = ?`;
const CANCEL = `update deliveries set state = 'failed', next_attempt_at = null, error = ?
  where ${HAS_ENDPOINT} and event_id in (
    select event_id from deliveries where ${HAS_ENDPOINT} and next_attempt_at is not null limit ?)`;
const DELETE = `delete from deliveries where ${HAS_ENDPOINT} and event_id in (
    select event_id from deliveries where ${HAS_ENDPOINT} order by event_id limit ?)`;
// The copy of an event has the source's position or a higher one. A deleted event has no copy.
const COPY = `insert into deliveries (${DELIVERY.names})
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, coalesce(
    (select position from events
      where workspace_id = ?2 and environment = ?3 and target_type = ?7 and target_id = ?8 and position >= ?17
        and event_id = ?5
      order by position limit 1), ?17))
  on conflict do nothing`;

export const findPendingEndpoint: QueryExecutor<'findPendingEndpoint'> = (connection, { after }) => {
  const row = findNextPending(connection, ENDPOINT_POSITION.cells(after));
  return row === undefined ? null : { endpoint: WEBHOOK_ENDPOINT_KEY.read(row), dueAt: row[3] as number };
};

export const copyDeliveries: CommandExecutor<'copyDeliveries'> = (connection, { deliveries }) => {
  for (const delivery of deliveries) connection.run(COPY, DELIVERY.cells(delivery));
};

export const claimDeliveries: CommandExecutor<'claimDeliveries'> = (
  connection,
  { endpoint, due: { from, to }, until, limit },
) => {
  const due = DELIVERY.readAll(
    connection.all(FIND_DUE, [...ENDPOINT_POSITION.cells(endpoint), from, to, limit]),
  );
  for (const { eventId } of due)
    connection.run(CLAIM, [until, ...ENDPOINT_POSITION.cells(endpoint), eventId]);
  const deliveries = due.map((delivery) => ({ ...delivery, nextAttemptAt: until }));
  return { deliveries, failingSince: connection.read(failingSince(endpoint)) };
};

export const finishAttempts: CommandExecutor<'finishAttempts'> = (connection, { attempts }) => {
  for (const {
    key,
    claimedUntil,
    state,
    nextAttemptAt,
    attemptedAt,
    responseStatus,
    error,
    attemptLog,
  } of attempts) {
    const change = [state, nextAttemptAt, attemptedAt, responseStatus, error, attemptLog];
    connection.run(FINISH, [...change, ...ENDPOINT_POSITION.cells(key), key.eventId, claimedUntil]);
  }
};

export const retryFailedDeliveries: CommandExecutor<'retryFailedDeliveries'> = (
  connection,
  { endpoint, after, now, limit },
) => {
  const position = ENDPOINT_POSITION.cells(endpoint);
  const failed = connection.all(FIND_FAILED, [...position, after, limit]) as [eventId: string][];
  for (const [eventId] of failed) connection.run(RETRY, [now, ...position, eventId]);
  return { retried: failed.length, hasMore: failed.length === limit };
};

export const cancelDeliveries: CommandExecutor<'cancelDeliveries'> = (
  connection,
  { endpoint, tag, error, limit },
) => {
  if (tagOf(connection, endpoint) !== tag) return 0;
  const position = ENDPOINT_POSITION.cells(endpoint);
  return connection.run(CANCEL, [error, ...position, ...position, limit]);
};

export const deleteDeliveries: CommandExecutor<'deleteDeliveries'> = (connection, { endpoint, limit }) => {
  if (tagOf(connection, endpoint) !== null) return 0;
  const position = ENDPOINT_POSITION.cells(endpoint);
  return connection.run(DELETE, [...position, ...position, limit]);
};

function tagOf(connection: Connection, endpoint: WebhookEndpointKey): VersionTag | null {
  const document = connection.read(READS.findDocument({ key: endpointDocumentKey(endpoint) }));
  return document && documentTag(document);
}
