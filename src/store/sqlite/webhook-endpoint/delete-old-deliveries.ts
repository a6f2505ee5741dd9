import { firstEventIdAt } from '../../../domain/event/event.ts';
import { TENANT } from '../../entities.ts';
import type { CommandExecutor } from '../executor.ts';

const NEXT_ENDPOINT = `select endpoint_id from deliveries where workspace_id = ? and environment = ? and endpoint_id > ?
  order by endpoint_id limit 1`;
const DELETE_OLD = `delete from deliveries where workspace_id = ?1 and environment = ?2 and endpoint_id = ?3
  and event_id in (select event_id from deliveries
    where workspace_id = ?1 and environment = ?2 and endpoint_id = ?3 and event_id < ?4
    order by event_id limit ?5)`;

export const deleteOldDeliveries: CommandExecutor<'deleteOldDeliveries'> = (
  connection,
  { tenant, before, limit },
) => {
  const cells = TENANT.cells(tenant);
  let deleted = 0;
  let endpointId = '';
  while (deleted < limit) {
    const next = connection.get(NEXT_ENDPOINT, [...cells, endpointId]) as [string] | undefined;
    if (next === undefined) break;
    [endpointId] = next;
    const bounds = [firstEventIdAt(before), limit - deleted];
    deleted += connection.run(DELETE_OLD, [...cells, endpointId, ...bounds]);
  }
  return { deleted, hasMore: deleted === limit };
};
