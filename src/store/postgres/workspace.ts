import { WORKSPACE } from '../entities.ts';
import { obstaclesTo, READS } from '../reads.ts';
import { statement } from '../statement.ts';
import { CREATE_WORKSPACE, DELETE_WORKSPACE, RENAME_WORKSPACE } from '../writes.ts';
import { conflict } from './client/errors.ts';
import type { Session } from './client/session.ts';
import type { CommandExecutor } from './executor.ts';

/** A no-op update that locks the rows until the end of the transaction: a portable row lock. */
export const LOCK = statement('lock_workspaces')`
  update workspaces set name = name where workspace_id = any ($1::bigint[]) returning workspace_id`;

const UNIQUE_VIOLATION = '23505';

export const ensureWorkspace: CommandExecutor<'ensureWorkspace'> = async (
  session,
  { workspaceId, name, now },
) => {
  await session.query(CREATE_WORKSPACE, WORKSPACE.cells({ workspaceId, name, createdAt: now }));
  const workspace = await session.read(READS.findWorkspace({ name }));
  if (workspace === null) throw conflict(new Error('the workspace was deleted or renamed concurrently'));
  // The id is unique to this command.
  return { created: workspace.workspaceId === workspaceId, workspace };
};

/** Runs in a transaction. Returns the ids that exist; these workspaces cannot be deleted before its end. */
export async function lockWorkspaces(
  session: Session,
  workspaceIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await session.query(LOCK, [[...new Set(workspaceIds)]]);
  return new Set(rows.map(([workspaceId]) => workspaceId as number));
}

/** Runs in a transaction. */
export const renameWorkspace: CommandExecutor<'renameWorkspace'> = async (
  session,
  { workspaceId, from, to },
) => {
  const holder = await session.read(READS.findWorkspace({ name: to }));
  if (holder !== null && holder.workspaceId !== workspaceId) return 'name_taken';
  const renamed = await session.query(RENAME_WORKSPACE, [to, workspaceId, from]).catch(retryIfTaken);
  return renamed.length === 1 ? 'renamed' : 'not_found';
};

/** Another transaction took the name after the lookup: the next attempt finds it. */
function retryIfTaken(error: unknown): never {
  if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
  throw conflict(error);
}

/** Runs in a transaction. Separate statements, so that each check sees what was committed before the lock. */
export const deleteWorkspace: CommandExecutor<'deleteWorkspace'> = async (session, command) => {
  const { workspaceId } = command;
  const found = await lockWorkspaces(session, [workspaceId]);
  if (found.size === 0) return 'not_found';
  for (const [obstacle, exists] of obstaclesTo(command)) if (await session.read(exists)) return obstacle;
  for (const statement of DELETE_WORKSPACE) await session.query(statement, [workspaceId]);
  return 'deleted';
};
