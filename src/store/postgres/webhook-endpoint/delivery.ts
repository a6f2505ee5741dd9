// Queries and commands about webhook deliveries whose statements are not those of SQLite.

import {
  DELIVERY,
  DELIVERY_KEY,
  ENDPOINT_POSITION,
  PENDING_ENDPOINT,
  WEBHOOK_ENDPOINT_KEY,
} from '../../entities.ts';
import { HAS_ENDPOINT, READS } from '../../reads.ts';
import { first, statement } from '../../statement.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import { sentRows, toArrays } from '../sent-rows.ts';

export const COPY = statement('copy_deliveries')`
  insert into deliveries (${DELIVERY.names})
  select ${DELIVERY.names} from ${sentRows(DELIVERY)}
  on conflict (bucket, workspace_id, environment, endpoint_id, event_id) do nothing`;

export const NEXT_ENDPOINT = statement('find_next_endpoint_of_deliveries')`
  select ${WEBHOOK_ENDPOINT_KEY.names} from deliveries
  where (workspace_id, environment, endpoint_id) > ($1, $2, $3)
  order by workspace_id, environment, endpoint_id limit 1`;

export const NEXT_PENDING = statement('find_next_pending_endpoint')`
  select ${PENDING_ENDPOINT.names} from deliveries
  where next_attempt_at is not null and (workspace_id, environment, endpoint_id) > ($1, $2, $3)
  order by workspace_id, environment, endpoint_id, next_attempt_at limit 1`;

// The next two are not the statements of SQLite: among many workspaces PostgreSQL expects that an endpoint has one delivery,
// and would read all of them to look for each in the subquery.

export const FIND_FAILED = statement('find_failed_deliveries')`
  select ${DELIVERY_KEY.names} from deliveries where ${HAS_ENDPOINT} and state = 'failed' and event_id > $4
  order by event_id limit $5`;

export const LIST_FAILED = statement('list_newest_failed_deliveries')`
  select ${DELIVERY.names} from deliveries where ${HAS_ENDPOINT} and state = 'failed' and event_id < $4
  order by event_id desc limit $5`;

export const findNextEndpoint: QueryExecutor<'findNextEndpoint'> = (session, { after }) =>
  session.read(first(WEBHOOK_ENDPOINT_KEY, NEXT_ENDPOINT, ENDPOINT_POSITION.cells(after)));

export const findPendingEndpoint: QueryExecutor<'findPendingEndpoint'> = (session, { after }) =>
  session.read(first(PENDING_ENDPOINT, NEXT_PENDING, ENDPOINT_POSITION.cells(after)));

export const listDeliveries: QueryExecutor<'listDeliveries'> = async (session, query) => {
  const read = READS.listDeliveries(query);
  return session.read(query.isFailed ? { ...read, statement: LIST_FAILED } : read);
};

export const copyDeliveries: CommandExecutor<'copyDeliveries'> = async (session, { deliveries }) => {
  await session.query(COPY, toArrays(DELIVERY, deliveries));
};
