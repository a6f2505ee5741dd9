import { DELIVERY } from '../../entities.ts';
import { statement } from '../../statement.ts';
import type { CommandExecutor } from '../executor.ts';
import { sentRows, toArrays } from '../sent-rows.ts';

export const COPY = statement('copy_deliveries')`
  insert into deliveries (${DELIVERY.names})
  select ${DELIVERY.names} from ${sentRows(DELIVERY)}
  on conflict (bucket, workspace_id, environment, endpoint_id, event_id) do nothing`;

export const copyDeliveries: CommandExecutor<'copyDeliveries'> = async (session, { deliveries }) => {
  await session.query(COPY, toArrays(DELIVERY, deliveries));
  return null;
};
