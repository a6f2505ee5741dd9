// Queries and commands about webhook deliveries whose statements are not those of SQLite.

import { DELIVERY, DELIVERY_KEY } from '../../entities.ts';
import { HAS_ENDPOINT, READS } from '../../reads.ts';
import { statement } from '../../statement.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import { sentRows, toArrays } from '../sent-rows.ts';

export const COPY = statement('copy_deliveries')`
  insert into deliveries (${DELIVERY.names})
  select ${DELIVERY.names} from ${sentRows(DELIVERY)}
  on conflict (bucket, workspace_id, environment, endpoint_id, event_id) do nothing`;

// The next two are not the statements of SQLite: among many workspaces PostgreSQL expects that an endpoint has one delivery,
// and would read all of them to look for each in the subquery.

export const FIND_FAILED = statement('find_failed_deliveries')`
  select ${DELIVERY_KEY.names} from deliveries where ${HAS_ENDPOINT} and state = 'failed' and event_id > $4
  order by event_id limit $5`;

export const LIST_FAILED = statement('list_newest_failed_deliveries')`
  select ${DELIVERY.names} from deliveries where ${HAS_ENDPOINT} and state = 'failed' and event_id < $4
  order by event_id desc limit $5`;

export const listDeliveries: QueryExecutor<'listDeliveries'> = async (session, query) => {
  const read = READS.listDeliveries(query);
  return session.read(query.isFailed ? { ...read, statement: LIST_FAILED } : read);
};

export const copyDeliveries: CommandExecutor<'copyDeliveries'> = async (session, { deliveries }) => {
  await session.query(COPY, toArrays(DELIVERY, deliveries));
};
