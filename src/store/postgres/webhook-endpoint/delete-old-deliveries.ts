import { firstEventIdAt } from '../../../domain/event/event.ts';
import { DELIVERY_KEY, ENDPOINT_POSITION, WEBHOOK_ENDPOINT_KEY } from '../../entities.ts';
import { statement } from '../../statement.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import { toArrays } from '../sent-rows.ts';
import { DELETE } from './delivery.ts';

export const NEXT_ENDPOINT = statement('find_next_endpoint_of_deliveries')`
  select ${WEBHOOK_ENDPOINT_KEY.names} from deliveries
  where (workspace_id, environment, endpoint_id) > ($1, $2, $3)
  order by workspace_id, environment, endpoint_id limit 1`;

// Event ids sort by time, so the index leads to the oldest deliveries of an endpoint. Batches continue as those of
// events do (event/delete.ts).
export const FIND_OLD = statement('find_old_deliveries')`
  select ${DELIVERY_KEY.names} from deliveries
  where workspace_id = $1 and environment = $2 and endpoint_id = $3 and event_id > $4 and event_id < $5
  order by event_id limit $6`;

export const findNextEndpoint: QueryExecutor<'findNextEndpoint'> = async (session, { after }) =>
  WEBHOOK_ENDPOINT_KEY.readFirst(await session.query(NEXT_ENDPOINT, ENDPOINT_POSITION.cells(after)));

export const deleteOldDeliveries: CommandExecutor<'deleteOldDeliveries'> = async (
  session,
  { endpoint, before, limit, after = [''] },
) => {
  const bounds = [...after, firstEventIdAt(before), limit];
  const rows = await session.query(FIND_OLD, [...ENDPOINT_POSITION.cells(endpoint), ...bounds]);
  const old = DELIVERY_KEY.readAll(rows);
  if (old.length === 0) return { deleted: 0, hasMore: false };
  const deleted = await session.query(DELETE, toArrays(DELIVERY_KEY, old));
  return { deleted: deleted.length, hasMore: old.length === limit, next: [old.at(-1)!.eventId] };
};
