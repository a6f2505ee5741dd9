// Queries and commands about webhook deliveries whose statements are not those of PostgreSQL.

import {
  DELIVERY,
  DELIVERY_KEY,
  ENDPOINT_POSITION,
  PENDING_ENDPOINT,
  WEBHOOK_ENDPOINT_KEY,
} from '../../entities.ts';
import { HAS_ENDPOINT } from '../../reads.ts';
import { statement } from '../../statement.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import { nextKey } from '../next-key.ts';

const findNext = nextKey(
  ENDPOINT_POSITION,
  (condition) => `select ${WEBHOOK_ENDPOINT_KEY.names} from deliveries where ${condition}
    order by workspace_id, environment, endpoint_id limit 1`,
);
const findNextPending = nextKey(
  ENDPOINT_POSITION,
  (condition) => `select ${PENDING_ENDPOINT.names} from deliveries
    where next_attempt_at is not null and ${condition}
    order by workspace_id, environment, endpoint_id, next_attempt_at limit 1`,
);
// The subquery reads only the index of failed deliveries, which SQLite uses for nothing else here.
export const FIND_FAILED = statement('find_failed_deliveries')`
  select ${DELIVERY_KEY.names} from deliveries where ${HAS_ENDPOINT} and event_id in (
    select event_id from deliveries where ${HAS_ENDPOINT} and state = 'failed' and event_id > $4
    order by event_id limit $5)
  order by event_id`;
// The copy of an event has the source's position or a higher one. A deleted event has no copy.
const COPY = `insert into deliveries (${DELIVERY.names})
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, coalesce(
    (select position from events
      where workspace_id = ?2 and environment = ?3 and target_type = ?7 and target_id = ?8 and position >= ?17
        and event_id = ?5
      order by position limit 1), ?17))
  on conflict do nothing`;

export const findNextEndpoint: QueryExecutor<'findNextEndpoint'> = (connection, { after }) =>
  WEBHOOK_ENDPOINT_KEY.readOrNull(findNext(connection, ENDPOINT_POSITION.cells(after)));

export const findPendingEndpoint: QueryExecutor<'findPendingEndpoint'> = (connection, { after }) =>
  PENDING_ENDPOINT.readOrNull(findNextPending(connection, ENDPOINT_POSITION.cells(after)));

export const copyDeliveries: CommandExecutor<'copyDeliveries'> = (connection, { deliveries }) => {
  for (const delivery of deliveries) connection.run(COPY, DELIVERY.cells(delivery));
};
