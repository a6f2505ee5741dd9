// Webhook deliveries. They are created together with their event (event/record.ts).

import { documentTag } from '../../../domain/document.ts';
import { compareIds } from '../../../domain/id-order.ts';
import type { Tenant } from '../../../domain/tenant.ts';
import type { VersionTag } from '../../../domain/user-group/user-group.ts';
import type {
  DeliveryKey,
  FinishedAttempt,
  WebhookEndpointKey,
} from '../../../domain/webhook-endpoint/delivery.ts';
import { endpointDocumentKey } from '../../../domain/webhook-endpoint/webhook-endpoint.ts';
import { DELIVERY, DELIVERY_KEY, ENDPOINT_POSITION, WEBHOOK_ENDPOINT_KEY } from '../../entities.ts';
import { failingSince, READS } from '../../reads.ts';
import { bigint, RowShape, text } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import { lockEnvironment } from '../document.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import { isSent, parameterAfter, sentRows, toArrays } from '../sent-rows.ts';
import { byTenant } from '../user-group/user-group.ts';

const SELECT = `select ${DELIVERY.names} from deliveries
    where workspace_id = $1 and environment = $2 and endpoint_id = $3`;

export const COPY = statement('copy_deliveries')`
  insert into deliveries (${DELIVERY.names})
  select ${DELIVERY.names} from ${sentRows(DELIVERY)}
  on conflict (bucket, workspace_id, environment, endpoint_id, event_id) do nothing`;

export const NEXT_PENDING = statement('find_next_pending_endpoint')`
  select ${WEBHOOK_ENDPOINT_KEY.names}, next_attempt_at from deliveries
  where next_attempt_at is not null and (workspace_id, environment, endpoint_id) > ($1, $2, $3)
  order by workspace_id, environment, endpoint_id, next_attempt_at limit 1`;

export const FIND_FAILED = statement('find_failed_deliveries')`
  ${SELECT} and state = 'failed' and event_id > $4 order by event_id limit $5`;

// Not the statement of SQLite: among many workspaces PostgreSQL expects that an endpoint has one delivery, and would read
// all of them to look for each in the subquery.
export const LIST_FAILED = statement('list_newest_failed_deliveries')`
  ${SELECT} and state = 'failed' and event_id < $4 order by event_id desc limit $5`;

// Order in which every process claims.
export const FIND_DUE = statement('find_due_deliveries')`
  ${SELECT} and next_attempt_at between $4 and $5 order by next_attempt_at, event_id limit $6`;

export const FIND_PENDING = statement('find_pending_deliveries')`
  ${SELECT} and next_attempt_at is not null order by next_attempt_at, event_id limit $4`;

export const FIND_OLDEST = statement('find_oldest_deliveries')`${SELECT} order by event_id limit $4`;

const { nextAttemptAt, state, responseStatus, error } = DELIVERY.fields;
const attemptLog = text<string>('attempt_log');
/** A delivery that is still due at the same time. */
const DUE = new RowShape({ ...DELIVERY_KEY.fields, nextAttemptAt });

/**
 * 0 without a next attempt. Not the plain column, for which PostgreSQL may choose the index of pending deliveries, and read
 * all those of the endpoint.
 */
const NEXT_ATTEMPT_AT = 'coalesce(stored.next_attempt_at, 0)';

export const CLAIM = statement('claim_deliveries')`
  update deliveries as stored set next_attempt_at = ${parameterAfter(DUE)}
  from ${sentRows(DUE)} where ${isSent(DELIVERY_KEY)} and ${NEXT_ATTEMPT_AT} = sent.next_attempt_at
  returning stored.event_id`;

const FINISHED = new RowShape<FinishedAttempt>({
  key: DELIVERY_KEY,
  claimedUntil: bigint('claimed_until'),
  state,
  nextAttemptAt,
  attemptedAt: bigint('attempted_at'),
  responseStatus,
  error,
  attemptLog,
});

export const FINISH = statement('finish_attempts')`
  update deliveries as stored set state = sent.state, attempts = stored.attempts + 1,
    next_attempt_at = sent.next_attempt_at, last_attempt_at = sent.attempted_at,
    response_status = sent.response_status, error = sent.error, attempt_log = sent.attempt_log
  from ${sentRows(FINISHED)}
  where ${isSent(DELIVERY_KEY)}
    and (${NEXT_ATTEMPT_AT} = sent.claimed_until
      or sent.state = 'delivered' and (stored.state = 'failed' or ${NEXT_ATTEMPT_AT} > sent.claimed_until))`;

// Checks the state again, as `CANCEL` does: another process may have changed a delivery since it was read.
export const RETRY_FAILED = statement('retry_failed_deliveries')`
  update deliveries as stored set state = 'pending', attempts = 0, next_attempt_at = ${parameterAfter(DELIVERY_KEY)}
  from ${sentRows(DELIVERY_KEY)} where ${isSent(DELIVERY_KEY)} and stored.state = 'failed'
  returning stored.event_id`;

export const CANCEL = statement('cancel_deliveries')`
  update deliveries as stored set state = 'failed', next_attempt_at = null, error = ${parameterAfter(DELIVERY_KEY)}
  from ${sentRows(DELIVERY_KEY)} where ${isSent(DELIVERY_KEY)} and stored.state = 'pending'`;

export const DELETE = statement('delete_deliveries')`
  delete from deliveries as stored using ${sentRows(DELIVERY_KEY)}
  where ${isSent(DELIVERY_KEY)} returning 1`;

export const findPendingEndpoint: QueryExecutor<'findPendingEndpoint'> = async (session, { after }) => {
  const [row] = await session.query(NEXT_PENDING, ENDPOINT_POSITION.cells(after));
  return row === undefined ? null : { endpoint: WEBHOOK_ENDPOINT_KEY.read(row), dueAt: row[3] as number };
};

export const listDeliveries: QueryExecutor<'listDeliveries'> = async (session, query) => {
  const read = READS.listDeliveries(query);
  return session.read(query.isFailed ? { ...read, statement: LIST_FAILED } : read);
};

export const copyDeliveries: CommandExecutor<'copyDeliveries'> = async (session, { deliveries }) => {
  await session.query(COPY, toArrays(DELIVERY, deliveries));
};

/** Claims only deliveries that are still due at the time that was read: other processes claim too. */
export const claimDeliveries: CommandExecutor<'claimDeliveries'> = async (
  session,
  { endpoint, due: { from, to }, until, limit },
) => {
  const [rows, since] = await session.pipelined(() => [
    session.query(FIND_DUE, [...ENDPOINT_POSITION.cells(endpoint), from, to, limit]),
    session.read(failingSince(endpoint)),
  ]);
  const due = DELIVERY.readAll(rows);
  if (due.length === 0) return { deliveries: [], failingSince: since };
  const claimed = await session.query(CLAIM, [...toArrays(DUE, due.toSorted(byKey)), until]);
  const eventIds = new Set(claimed.map(([eventId]) => eventId));
  const deliveries = due.filter(({ eventId }) => eventIds.has(eventId));
  return { deliveries: deliveries.map((each) => ({ ...each, nextAttemptAt: until })), failingSince: since };
};

export const finishAttempts: CommandExecutor<'finishAttempts'> = async (session, { attempts }) => {
  const inOrder = attempts.toSorted(({ key: a }, { key: b }) => byKey(a, b));
  await session.query(FINISH, toArrays(FINISHED, inOrder));
};

export const retryFailedDeliveries: CommandExecutor<'retryFailedDeliveries'> = async (
  session,
  { endpoint, after, now, limit },
) => {
  const failed = await session.query(FIND_FAILED, [...ENDPOINT_POSITION.cells(endpoint), after, limit]);
  const retried = failed.length === 0 ? [] : await session.query(RETRY_FAILED, [...toKeyArrays(failed), now]);
  return { retried: retried.length, hasMore: failed.length === limit };
};

/** Runs in a transaction. */
export const cancelDeliveries: CommandExecutor<'cancelDeliveries'> = async (
  session,
  { endpoint, tag, error, limit },
) => {
  if ((await tagOf(session, endpoint)) !== tag) return 0;
  const found = await session.query(FIND_PENDING, [...ENDPOINT_POSITION.cells(endpoint), limit]);
  if (found.length > 0) await session.query(CANCEL, [...toKeyArrays(found), error]);
  return found.length;
};

/** Runs in a transaction. */
export const deleteDeliveries: CommandExecutor<'deleteDeliveries'> = async (session, { endpoint, limit }) => {
  if ((await tagOf(session, endpoint)) !== null) return 0;
  const found = await session.query(FIND_OLDEST, [...ENDPOINT_POSITION.cells(endpoint), limit]);
  if (found.length > 0) await session.query(DELETE, toKeyArrays(found));
  return found.length;
};

/** Locks the endpoint until the end of the transaction: no event is recorded for a new version of it. */
async function tagOf(session: Session, endpoint: WebhookEndpointKey): Promise<VersionTag | null> {
  const key = endpointDocumentKey(endpoint);
  await session.perform(lockEnvironment(key));
  const document = await session.read(READS.findDocument({ key }));
  return document && documentTag(document);
}

/** `rows` have the columns of `DELIVERY`. */
function toKeyArrays(rows: readonly unknown[][]): unknown[][] {
  return toArrays(DELIVERY_KEY, DELIVERY.readAll(rows).toSorted(byKey));
}

/** Every process sorts deliveries this way, so that two of them do not deadlock. */
function byKey(a: DeliveryKey, b: DeliveryKey): number {
  return byEndpoint(a, b) || compareIds(a.eventId, b.eventId);
}

/** Same order for endpoints; an environment comes before its endpoints. */
export function byEndpoint(a: Tenant & Partial<WebhookEndpointKey>, b: typeof a): number {
  return byTenant(a, b) || compareIds(a.endpointId ?? '', b.endpointId ?? '');
}
