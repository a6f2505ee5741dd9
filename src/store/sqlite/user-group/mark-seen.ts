import { USER_GROUP_KEY } from '../../entities.ts';
import type { CommandExecutor } from '../executor.ts';

const MARK = `update user_groups set last_seen_at = ?1
  where bucket = ?2 and workspace_id = ?3 and environment = ?4 and provided_id = ?5 and team_id = ?6
    and (last_seen_at is null or last_seen_at < ?1)`;

export const markSeen: CommandExecutor<'markSeen'> = (connection, { userGroups, at }) => {
  for (const { key, teamId } of userGroups) connection.run(MARK, [at, ...USER_GROUP_KEY.cells(key), teamId]);
};
