import { DELIVERY } from '../../entities.ts';
import type { Command } from '../../port.ts';
import { type Session, statement } from '../client/session.ts';
import { sentRows, toArrays } from '../sent-rows.ts';

export const COPY = statement('copy_deliveries')`
  insert into deliveries (${DELIVERY.names})
  select ${DELIVERY.names} from ${sentRows(DELIVERY)}
  on conflict (bucket, workspace_id, environment, endpoint_id, event_id) do nothing`;

export async function copyDeliveries(
  session: Session,
  { deliveries }: Command<'copyDeliveries'>,
): Promise<null> {
  await session.query(COPY, toArrays(DELIVERY, deliveries));
  return null;
}
