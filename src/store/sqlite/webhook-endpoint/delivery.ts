// Commands about webhook deliveries whose statements are not those of PostgreSQL.

import { DELIVERY, DELIVERY_KEY } from '../../entities.ts';
import { HAS_ENDPOINT } from '../../reads.ts';
import { statement } from '../../statement.ts';
import type { CommandExecutor } from '../executor.ts';

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

export const copyDeliveries: CommandExecutor<'copyDeliveries'> = (connection, { deliveries }) => {
  for (const delivery of deliveries) connection.run(COPY, DELIVERY.cells(delivery));
};
