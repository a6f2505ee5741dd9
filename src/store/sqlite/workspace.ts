import { WORKSPACE, WORKSPACE_TABLES } from '../entities.ts';
import { obstaclesTo, READS } from '../reads.ts';
import type { CommandExecutor } from './executor.ts';
import type { Connection } from './file/connection.ts';
import { placeholders } from './placeholders.ts';

const CREATE = `insert into workspaces (${WORKSPACE.names}) values (${placeholders(WORKSPACE)}) on conflict (name) do nothing`;
const EXISTS = 'select 1 from workspaces where workspace_id = ?';
const RENAME = 'update workspaces set name = ? where workspace_id = ? and name = ?';
const DELETE = 'delete from workspaces where workspace_id = ?';
export function hasWorkspace(connection: Connection, workspaceId: number): boolean {
  return connection.get(EXISTS, [workspaceId]) !== undefined;
}

export const ensureWorkspace: CommandExecutor<'ensureWorkspace'> = (
  connection,
  { workspaceId, name, now },
) => {
  const created = connection.run(CREATE, WORKSPACE.cells({ workspaceId, name, createdAt: now })) === 1;
  return { created, workspace: connection.read(READS.findWorkspace({ name }))! };
};

export const renameWorkspace: CommandExecutor<'renameWorkspace'> = (
  connection,
  { workspaceId, from, to },
) => {
  const holder = connection.read(READS.findWorkspace({ name: to }));
  if (holder !== null && holder.workspaceId !== workspaceId) return 'name_taken';
  return connection.run(RENAME, [to, workspaceId, from]) === 1 ? 'renamed' : 'not_found';
};

export const deleteWorkspace: CommandExecutor<'deleteWorkspace'> = (connection, command) => {
  const { workspaceId } = command;
  if (!hasWorkspace(connection, workspaceId)) return 'not_found';
  for (const [obstacle, exists] of obstaclesTo(command)) if (connection.read(exists)) return obstacle;
  for (const table of WORKSPACE_TABLES)
    connection.run(`delete from ${table} where workspace_id = ?`, [workspaceId]);
  connection.run(DELETE, [workspaceId]);
  return 'deleted';
};
