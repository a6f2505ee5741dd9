import { exists, statement } from '../statement.ts';
import { type Steps, send } from '../steps.ts';
import { WRITES } from '../writes.ts';
import { conflict } from './client/errors.ts';
import type { Session } from './client/session.ts';
import type { CommandExecutor } from './executor.ts';

/** A no-op update that locks the rows until the end of the transaction: a portable row lock. */
export const LOCK = statement('lock_workspaces')`
  update workspaces set name = name where workspace_id = any ($1::bigint[]) returning workspace_id`;

const UNIQUE_VIOLATION = '23505';

/** Runs in a transaction. Returns the ids that exist; these workspaces cannot be deleted before its end. */
export async function lockWorkspaces(
  session: Session,
  workspaceIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await session.query(LOCK, [[...new Set(workspaceIds)]]);
  return new Set(rows.map(([workspaceId]) => workspaceId as number));
}

export function lockWorkspace(workspaceId: number): Steps<boolean> {
  return send(exists(LOCK, [`{${workspaceId}}`]));
}

/** Runs in a transaction. */
export const renameWorkspace: CommandExecutor<'renameWorkspace'> = (session, command) =>
  session.perform(WRITES.renameWorkspace(command)).catch(retryIfTaken);

/** Another transaction took the name after the lookup: the next attempt finds it. */
function retryIfTaken(error: unknown): never {
  if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
  throw conflict(error);
}
