import { firstEventIdAt } from '../../../domain/event/event.ts';
import { ENDPOINT_POSITION, WEBHOOK_ENDPOINT_KEY } from '../../entities.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import { nextKey } from '../next-key.ts';

const findNext = nextKey(
  ENDPOINT_POSITION,
  (condition) => `select ${WEBHOOK_ENDPOINT_KEY.names} from deliveries where ${condition}
    order by workspace_id, environment, endpoint_id limit 1`,
);
const DELETE_OLD = `delete from deliveries where workspace_id = ?1 and environment = ?2 and endpoint_id = ?3
  and event_id in (select event_id from deliveries
    where workspace_id = ?1 and environment = ?2 and endpoint_id = ?3 and event_id < ?4
    order by event_id limit ?5)`;

export const findNextEndpoint: QueryExecutor<'findNextEndpoint'> = (connection, { after }) =>
  WEBHOOK_ENDPOINT_KEY.readOrNull(findNext(connection, ENDPOINT_POSITION.cells(after)));

export const deleteOldDeliveries: CommandExecutor<'deleteOldDeliveries'> = (
  connection,
  { endpoint, before, limit },
) => {
  const bounds = [firstEventIdAt(before), limit];
  const deleted = connection.run(DELETE_OLD, [...ENDPOINT_POSITION.cells(endpoint), ...bounds]);
  return { deleted, hasMore: deleted === limit };
};
