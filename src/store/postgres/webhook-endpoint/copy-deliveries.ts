import type { Command } from '../../port.ts';
import { DELIVERY_COLUMNS, fromDelivery } from '../../row-mapping.ts';
import type { Session, Statement } from '../client/pool.ts';

export const COPY: Statement = {
  name: 'copy_deliveries',
  sql: `insert into deliveries (${DELIVERY_COLUMNS})
    select ${DELIVERY_COLUMNS}
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::integer[], $11::bigint[], $12::bigint[], $13::integer[], $14::text[], $15::bigint[],
        $16::bigint[])
      as sent (${DELIVERY_COLUMNS})
    on conflict (bucket, workspace_id, environment, endpoint_id, event_id) do nothing`,
};

export async function copyDeliveries(
  session: Session,
  { deliveries }: Command<'copyDeliveries'>,
): Promise<null> {
  const rows = deliveries.map(fromDelivery);
  const columns = DELIVERY_COLUMNS.split(', ').map((_, column) => rows.map((row) => row[column]));
  await session.query(COPY, columns);
  return null;
}
