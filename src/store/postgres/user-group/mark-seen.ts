import type { Command } from '../../port.ts';
import type { Session, Statement } from '../client/pool.ts';
import { byKey, columnsOfKeys } from './user-group.ts';

export const MARK: Statement = {
  name: 'mark_user_groups_seen',
  sql: `update user_groups as stored set last_seen_at = $6
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
      as sent (bucket, workspace_id, environment, provided_id, team_id)
    where stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.provided_id = sent.provided_id
      and stored.team_id = sent.team_id
      and (stored.last_seen_at is null or stored.last_seen_at < $6)`,
};

/** In the key order that every process uses. */
export async function markSeen(session: Session, { userGroups, at }: Command<'markSeen'>): Promise<null> {
  const sorted = userGroups.toSorted(byKey);
  await session.query(MARK, [...columnsOfKeys(sorted), sorted.map(({ teamId }) => teamId), at]);
  return null;
}
