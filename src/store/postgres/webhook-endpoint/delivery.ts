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
import type { Session, Statement } from '../client/pool.ts';

const SELECT = `select ${DELIVERY_COLUMNS} from deliveries
    where workspace_id = $1 and environment = $2 and endpoint_id = $3`;

export const LIST: Statement = {
  name: 'list_deliveries',
  sql: `${SELECT} and event_id < $4 order by event_id desc limit $5`,
};

export const SCAN: Statement = {
  name: 'scan_deliveries',
  sql: `select ${DELIVERY_COLUMNS} from deliveries
    where (workspace_id, environment, endpoint_id, event_id) > ($1, $2, $3, $4)
    order by workspace_id, environment, endpoint_id, event_id limit $5`,
};

export const NEXT_PENDING: Statement = {
  name: 'find_next_pending_endpoint',
  sql: `select workspace_id, environment, endpoint_id, next_attempt_at from deliveries
    where next_attempt_at is not null and (workspace_id, environment, endpoint_id) > ($1, $2, $3)
    order by workspace_id, environment, endpoint_id, next_attempt_at limit 1`,
};

export const COUNT_PENDING: Statement = {
  name: 'count_pending_deliveries',
  sql: `select count(*) from (select 1 from deliveries where next_attempt_at is not null limit $1) as pending`,
};

// Every process claims in this order.
export const COUNT_PENDING_OF: Statement = {
  name: 'count_pending_deliveries_of_endpoint',
  sql: `select count(*)::integer from (select 1 from deliveries
    where workspace_id = $1 and environment = $2 and endpoint_id = $3 and next_attempt_at is not null limit $4) as pending`,
};

export const FIND_DUE: Statement = {
  name: 'find_due_deliveries',
  sql: `${SELECT} and next_attempt_at <= $4 order by next_attempt_at, event_id limit $5`,
};

export const FIND_PENDING: Statement = {
  name: 'find_pending_deliveries',
  sql: `${SELECT} and next_attempt_at is not null order by next_attempt_at, event_id limit $4`,
};

export const FIND_OLDEST: Statement = {
  name: 'find_oldest_deliveries',
  sql: `${SELECT} order by event_id limit $4`,
};

export const FIND_ONE: Statement = {
  name: 'find_delivery',
  sql: `${SELECT} and event_id = $4`,
};

const OF_SENT = `stored.bucket = sent.bucket and stored.workspace_id = $3 and stored.environment = $4
      and stored.endpoint_id = $5 and stored.event_id = sent.event_id`;

export const CLAIM: Statement = {
  name: 'claim_deliveries',
  sql: `update deliveries as stored set next_attempt_at = $6
    from unnest($1::integer[], $2::text[], $7::bigint[]) as sent (bucket, event_id, next_attempt_at)
    where ${OF_SENT} and stored.next_attempt_at = sent.next_attempt_at
    returning stored.event_id`,
};

export const FINISH: Statement = {
  name: 'finish_attempts',
  sql: `update deliveries as stored set state = sent.state, attempts = stored.attempts + 1,
      next_attempt_at = sent.next_attempt_at, last_attempt_at = sent.attempted_at,
      response_status = sent.response_status, error = sent.error
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
        $8::bigint[], $9::bigint[], $10::integer[], $11::text[])
      as sent (bucket, workspace_id, environment, endpoint_id, event_id, claimed_until, state, next_attempt_at,
        attempted_at, response_status, error)
    where stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.endpoint_id = sent.endpoint_id
      and stored.event_id = sent.event_id and stored.state = 'pending'
      and (sent.state = 'delivered' or stored.next_attempt_at = sent.claimed_until)`,
};

export const RETRY: Statement = {
  name: 'retry_delivery',
  sql: `update deliveries as stored set state = 'pending', attempts = 0, next_attempt_at = $6
    from unnest($1::integer[], $2::text[]) as sent (bucket, event_id) where ${OF_SENT}
    returning stored.event_id`,
};

export const CANCEL: Statement = {
  name: 'cancel_deliveries',
  sql: `update deliveries as stored set state = 'failed', next_attempt_at = null, error = $6
    from unnest($1::integer[], $2::text[]) as sent (bucket, event_id) where ${OF_SENT}`,
};

export const DELETE: Statement = {
  name: 'delete_deliveries',
  sql: `delete from deliveries as stored using unnest($1::integer[], $2::text[]) as sent (bucket, event_id)
    where ${OF_SENT}`,
};

export const FAILING_SINCE: Statement = {
  name: 'find_failing_since',
  sql: `select failing_since from failing_webhook_endpoints
    where workspace_id = $1 and environment = $2 and endpoint_id = $3`,
};

export const SCAN_FAILING: Statement = {
  name: 'scan_failing_endpoints',
  sql: `select workspace_id, environment, endpoint_id, failing_since from failing_webhook_endpoints
    where (workspace_id, environment, endpoint_id) > ($1, $2, $3)
    order by workspace_id, environment, endpoint_id limit $4`,
};

export const SET_FAILING: Statement = {
  name: 'set_failing_since',
  sql: `insert into failing_webhook_endpoints (workspace_id, environment, endpoint_id, failing_since)
    values ($1, $2, $3, $4) on conflict (workspace_id, environment, endpoint_id) do nothing`,
};

export const CLEAR_FAILING: Statement = {
  name: 'clear_failing_since',
  sql: 'delete from failing_webhook_endpoints where workspace_id = $1 and environment = $2 and endpoint_id = $3',
};

/** Sorts after every event id. */
const LAST_ID = '~';
const FIRST_ENDPOINT = startOfWorkspace(0);

export async function listDeliveries(
  session: Session,
  { of, before, limit }: Query<'listDeliveries'>,
): Promise<Delivery[]> {
  return (await session.query(LIST, [...partsOf(of), before ?? LAST_ID, limit])).map(toDelivery);
}

export async function scanDeliveries(
  session: Session,
  { after, limit }: Query<'scanDeliveries'>,
): Promise<Delivery[]> {
  const key = [...partsOf(after ?? FIRST_ENDPOINT), after?.eventId ?? ''];
  return (await session.query(SCAN, [...key, limit])).map(toDelivery);
}

export async function scanFailingEndpoints(
  session: Session,
  { after, limit }: Query<'scanFailingEndpoints'>,
): Promise<FailingEndpoint[]> {
  const rows = await session.query(SCAN_FAILING, [...partsOf(after ?? FIRST_ENDPOINT), limit]);
  return rows.map((row) => ({ ...toEndpointKey(row), failingSince: row[3] as number }));
}

export async function findPendingEndpoint(
  session: Session,
  { after }: Query<'findPendingEndpoint'>,
): Promise<PendingEndpoint | null> {
  const [row] = await session.query(NEXT_PENDING, partsOf(after));
  return row === undefined ? null : { endpoint: toEndpointKey(row), dueAt: row[3] as number };
}

export async function countPendingDeliveries(
  session: Session,
  { atMost }: Query<'countPendingDeliveries'>,
): Promise<number> {
  const [row] = await session.query(COUNT_PENDING, [atMost]);
  return row![0] as number;
}

export async function findEndpointHealth(
  session: Session,
  { of, atMost }: Query<'findEndpointHealth'>,
): Promise<EndpointHealth> {
  const [row] = await session.query(COUNT_PENDING_OF, [...partsOf(of), atMost]);
  return { pendingDeliveries: row![0] as number, failingSince: await findFailingSince(session, of) };
}

/** Another process may claim the same deliveries: a claim changes only those that are still due at the same time. */
export async function claimDeliveries(
  session: Session,
  { of, now, until, limit }: Command<'claimDeliveries'>,
): Promise<ClaimedDeliveries> {
  const [rows, failingSince] = await session.pipelined(() =>
    Promise.all([session.query(FIND_DUE, [...partsOf(of), now, limit]), findFailingSince(session, of)]),
  );
  const due = rows.map(toDelivery);
  if (due.length === 0) return { deliveries: [], failingSince };
  const claimed = await session.query(CLAIM, [
    ...columnsOf(due),
    ...partsOf(of),
    until,
    due.map(({ nextAttemptAt }) => nextAttemptAt),
  ]);
  const eventIds = new Set(claimed.map(([eventId]) => eventId));
  const deliveries = due.filter(({ eventId }) => eventIds.has(eventId));
  return { deliveries: deliveries.map((each) => ({ ...each, nextAttemptAt: until })), failingSince };
}

export async function finishAttempts(
  session: Session,
  { attempts }: Command<'finishAttempts'>,
): Promise<null> {
  await session.query(FINISH, [
    attempts.map(({ key }) => key.bucket),
    attempts.map(({ key }) => key.workspaceId),
    attempts.map(({ key }) => key.environment),
    attempts.map(({ key }) => key.endpointId),
    attempts.map(({ key }) => key.eventId),
    attempts.map(({ claimedUntil }) => claimedUntil),
    attempts.map(({ state }) => state),
    attempts.map(({ nextAttemptAt }) => nextAttemptAt),
    attempts.map(({ attemptedAt }) => attemptedAt),
    attempts.map(({ responseStatus }) => responseStatus),
    attempts.map(({ error }) => error),
  ]);
  return null;
}

export async function retryDelivery(
  session: Session,
  { of, eventId, now }: Command<'retryDelivery'>,
): Promise<boolean> {
  const found = await session.query(FIND_ONE, [...partsOf(of), eventId]);
  const values = [...columnsOf(found.map(toDelivery)), ...partsOf(of), now];
  return found.length > 0 && (await session.query(RETRY, values)).length === 1;
}

export async function cancelDeliveries(
  session: Session,
  { of, error, limit }: Command<'cancelDeliveries'>,
): Promise<number> {
  const found = await session.query(FIND_PENDING, [...partsOf(of), limit]);
  const values = [...columnsOf(found.map(toDelivery)), ...partsOf(of), error];
  if (found.length > 0) await session.query(CANCEL, values);
  return found.length;
}

export async function deleteDeliveries(
  session: Session,
  { of, limit }: Command<'deleteDeliveries'>,
): Promise<number> {
  const found = await session.query(FIND_OLDEST, [...partsOf(of), limit]);
  const values = [...columnsOf(found.map(toDelivery)), ...partsOf(of)];
  if (found.length > 0) await session.query(DELETE, values);
  return found.length;
}

export async function setFailingSince(
  session: Session,
  { of, since }: Command<'setFailingSince'>,
): Promise<number | null> {
  if (since === null) await session.query(CLEAR_FAILING, partsOf(of));
  else await session.query(SET_FAILING, [...partsOf(of), since]);
  return findFailingSince(session, of);
}

async function findFailingSince(session: Session, of: WebhookEndpointKey): Promise<number | null> {
  const [row] = await session.query(FAILING_SINCE, partsOf(of));
  return (row?.[0] as number | undefined) ?? null;
}

function columnsOf(deliveries: readonly Delivery[]): [number[], string[]] {
  return [deliveries.map(({ bucket }) => bucket), deliveries.map(({ eventId }) => eventId)];
}

function partsOf({ workspaceId, environment, endpointId }: EndpointPosition): [number, string, string] {
  return [workspaceId, environment, endpointId];
}

function toEndpointKey([workspaceId, environment, endpointId]: readonly unknown[]): WebhookEndpointKey {
  return {
    workspaceId: workspaceId as number,
    environment: environment as Environment,
    endpointId: endpointId as string,
  };
}
