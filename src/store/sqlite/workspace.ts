import { WORKSPACE, WORKSPACE_TABLES } from '../entities.ts';
import type { Workspace } from '../port.ts';
import type { CommandExecutor, QueryExecutor } from './executor.ts';
import type { Connection } from './file/connection.ts';
import { placeholders } from './placeholders.ts';

const FIND = `select ${WORKSPACE.names} from workspaces where name = ?`;
const LIST = `select ${WORKSPACE.names} from workspaces where name > ? order by name limit ?`;
const CREATE = `insert into workspaces (${WORKSPACE.names}) values (${placeholders(WORKSPACE)}) on conflict (name) do nothing`;
const EXISTS = 'select 1 from workspaces where workspace_id = ?';
const RENAME = 'update workspaces set name = ? where workspace_id = ? and name = ?';
const DELETE = 'delete from workspaces where workspace_id = ?';
const HAS_USER_GROUP = 'select 1 from user_groups where workspace_id = ? limit 1';
const HAS_API_TOKEN = `select 1 from api_tokens where workspace_id = ?1
  and (revoked_at is null or revoked_at >= ?2) and (expires_at is null or expires_at >= ?2) limit 1`;
const HAS_EVENT = 'select 1 from events where workspace_id = ? limit 1';
const HAS_USAGE = 'select 1 from usage_counts where workspace_id = ? limit 1';

export function findWorkspace(connection: Connection, { name }: { name: string }): Workspace | null {
  return WORKSPACE.readOrNull(connection.get(FIND, [name]));
}

export const listWorkspaces: QueryExecutor<'listWorkspaces'> = (connection, { after, limit }) => {
  // No name is empty.
  return WORKSPACE.readAll(connection.all(LIST, [after ?? '', limit]));
};

export function hasWorkspace(connection: Connection, workspaceId: number): boolean {
  return connection.get(EXISTS, [workspaceId]) !== undefined;
}

export const ensureWorkspace: CommandExecutor<'ensureWorkspace'> = (
  connection,
  { workspaceId, name, now },
) => {
  const created = connection.run(CREATE, WORKSPACE.cells({ workspaceId, name, createdAt: now })) === 1;
  return { created, workspace: findWorkspace(connection, { name })! };
};

export const renameWorkspace: CommandExecutor<'renameWorkspace'> = (
  connection,
  { workspaceId, from, to },
) => {
  const holder = findWorkspace(connection, { name: to });
  if (holder !== null && holder.workspaceId !== workspaceId) return 'name_taken';
  return connection.run(RENAME, [to, workspaceId, from]) === 1 ? 'renamed' : 'not_found';
};

export const deleteWorkspace: CommandExecutor<'deleteWorkspace'> = (
  connection,
  { workspaceId, endedBefore },
) => {
  if (!hasWorkspace(connection, workspaceId)) return 'not_found';
  if (connection.get(HAS_USER_GROUP, [workspaceId]) !== undefined) return 'has_user_groups';
  if (connection.get(HAS_API_TOKEN, [workspaceId, endedBefore]) !== undefined) return 'has_api_tokens';
  for (const sql of [HAS_EVENT, HAS_USAGE])
    if (connection.get(sql, [workspaceId]) !== undefined) return 'has_history';
  for (const table of WORKSPACE_TABLES)
    connection.run(`delete from ${table} where workspace_id = ?`, [workspaceId]);
  connection.run(DELETE, [workspaceId]);
  return 'deleted';
};
