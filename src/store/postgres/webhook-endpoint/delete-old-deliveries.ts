import { firstEventIdAt } from '../../../domain/event/event.ts';
import type { Command } from '../../port.ts';
import type { Session, Statement } from '../client/pool.ts';

// The ids of events sort by time: with the endpoint, the index leads to the oldest deliveries.
export const NEXT_ENDPOINT: Statement = {
  name: 'find_next_endpoint_of_deliveries',
  sql: `select endpoint_id from deliveries where workspace_id = $1 and environment = $2 and endpoint_id > $3
    order by endpoint_id limit 1`,
};

export const FIND_OLD: Statement = {
  name: 'find_old_deliveries',
  sql: `select bucket, workspace_id, environment, endpoint_id, event_id from deliveries
    where workspace_id = $1 and environment = $2 and endpoint_id = $3 and event_id < $4 and next_attempt_at is null
    order by event_id limit $5`,
};

export const DELETE: Statement = {
  name: 'delete_old_deliveries',
  sql: `delete from deliveries as stored
    using unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[])
      as sent (bucket, workspace_id, environment, endpoint_id, event_id)
    where stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.endpoint_id = sent.endpoint_id
      and stored.event_id = sent.event_id`,
};

export async function deleteOldDeliveries(
  session: Session,
  { of, before, limit }: Command<'deleteOldDeliveries'>,
): Promise<number> {
  const tenant = [of.workspaceId, of.environment];
  const old: unknown[][] = [];
  for (let endpoint: unknown = ''; old.length < limit; ) {
    const [next] = await session.query(NEXT_ENDPOINT, [...tenant, endpoint]);
    if (next === undefined) break;
    [endpoint] = next;
    const values = [...tenant, endpoint, firstEventIdAt(before), limit - old.length];
    old.push(...(await session.query(FIND_OLD, values)));
  }
  const columns = [0, 1, 2, 3, 4].map((column) => old.map((row) => row[column]));
  if (old.length > 0) await session.query(DELETE, columns);
  return old.length;
}
