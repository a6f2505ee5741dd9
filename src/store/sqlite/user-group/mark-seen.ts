import type { Command } from '../../port.ts';
import type { Connection } from '../file/connection.ts';
import { partsOf } from './user-group.ts';

const MARK = `update user_groups set last_seen_at = ?1
  where bucket = ?2 and workspace_id = ?3 and environment = ?4 and provided_id = ?5 and team_id = ?6
    and (last_seen_at is null or last_seen_at < ?1)`;

export function markSeen(connection: Connection, { userGroups, at }: Command<'markSeen'>): null {
  for (const { key, teamId } of userGroups) connection.run(MARK, [at, ...partsOf(key), teamId]);
  return null;
}
