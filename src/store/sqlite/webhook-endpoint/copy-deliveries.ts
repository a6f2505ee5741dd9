import { DELIVERY } from '../../entities.ts';
import type { CommandExecutor } from '../executor.ts';

// The copy of an event has the source's position or a higher one. A deleted event has no copy.
const COPY = `insert into deliveries (${DELIVERY.names})
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, coalesce(
    (select position from events
      where workspace_id = ?2 and environment = ?3 and target_type = ?7 and target_id = ?8 and position >= ?17
        and event_id = ?5
      order by position limit 1), ?17))
  on conflict do nothing`;

export const copyDeliveries: CommandExecutor<'copyDeliveries'> = (connection, { deliveries }) => {
  for (const delivery of deliveries) connection.run(COPY, DELIVERY.cells(delivery));
  return null;
};
