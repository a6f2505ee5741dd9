import { WORKSPACE } from '../entities.ts';
import { obstaclesTo, READS } from '../reads.ts';
import { CREATE_WORKSPACE, DELETE_WORKSPACE, RENAME_WORKSPACE } from '../writes.ts';
import type { CommandExecutor } from './executor.ts';
import type { Connection } from './file/connection.ts';

const EXISTS = 'select 1 from workspaces where workspace_id = ?';

export function hasWorkspace(connection: Connection, workspaceId: number): boolean {
  return connection.get(EXISTS, [workspaceId]) !== undefined;
}

export const ensureWorkspace: CommandExecutor<'ensureWorkspace'> = (
  connection,
  { workspaceId, name, now },
) => {
  connection.query(CREATE_WORKSPACE, WORKSPACE.cells({ workspaceId, name, createdAt: now }));
  const workspace = connection.read(READS.findWorkspace({ name }))!;
  // The id is unique to this command.
  return { created: workspace.workspaceId === workspaceId, workspace };
};

export const renameWorkspace: CommandExecutor<'renameWorkspace'> = (
  connection,
  { workspaceId, from, to },
) => {
  const holder = connection.read(READS.findWorkspace({ name: to }));
  if (holder !== null && holder.workspaceId !== workspaceId) return 'name_taken';
  return connection.query(RENAME_WORKSPACE, [to, workspaceId, from]).length === 1 ? 'renamed' : 'not_found';
};

export const deleteWorkspace: CommandExecutor<'deleteWorkspace'> = (connection, command) => {
  const { workspaceId } = command;
  if (!hasWorkspace(connection, workspaceId)) return 'not_found';
  for (const [obstacle, exists] of obstaclesTo(command)) if (connection.read(exists)) return obstacle;
  for (const statement of DELETE_WORKSPACE) connection.query(statement, [workspaceId]);
  return 'deleted';
};
