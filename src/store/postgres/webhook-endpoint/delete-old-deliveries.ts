import { firstEventIdAt } from '../../../domain/event/event.ts';
import type { DeliveryKey } from '../../../domain/webhook-endpoint/delivery.ts';
import { DELIVERY_KEY, TENANT } from '../../entities.ts';
import { statement } from '../../statement.ts';
import type { CommandExecutor } from '../executor.ts';
import { toArrays } from '../sent-rows.ts';
import { DELETE } from './delivery.ts';

// Event ids sort by time, so the index leads to the oldest deliveries of an endpoint.
export const NEXT_ENDPOINT = statement('find_next_endpoint_of_deliveries')`
  select endpoint_id from deliveries where workspace_id = $1 and environment = $2 and endpoint_id > $3
  order by endpoint_id limit 1`;

export const FIND_OLD = statement('find_old_deliveries')`
  select ${DELIVERY_KEY.names} from deliveries
  where workspace_id = $1 and environment = $2 and endpoint_id = $3 and event_id < $4
  order by event_id limit $5`;

export const deleteOldDeliveries: CommandExecutor<'deleteOldDeliveries'> = async (
  session,
  { tenant, before, limit },
) => {
  const cells = TENANT.cells(tenant);
  const old: DeliveryKey[] = [];
  let endpointId: unknown = '';
  while (old.length < limit) {
    const [next] = await session.query(NEXT_ENDPOINT, [...cells, endpointId]);
    if (next === undefined) break;
    [endpointId] = next;
    const bounds = [firstEventIdAt(before), limit - old.length];
    old.push(...DELIVERY_KEY.readAll(await session.query(FIND_OLD, [...cells, endpointId, ...bounds])));
  }
  const deleted = old.length === 0 ? [] : await session.query(DELETE, toArrays(DELIVERY_KEY, old));
  return { deleted: deleted.length, hasMore: old.length === limit };
};
