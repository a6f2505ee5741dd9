import { WORKSPACE, WORKSPACE_TABLES } from '../entities.ts';
import { statement } from '../statement.ts';
import { conflict } from './client/errors.ts';
import type { Session } from './client/session.ts';
import type { CommandExecutor, QueryExecutor } from './executor.ts';
import { parameters } from './sent-rows.ts';

export const LIST = statement('list_workspaces')`
  select ${WORKSPACE.names} from workspaces where name > $1 order by name limit $2`;

export const INSERT = statement('create_workspace')`
  insert into workspaces (${WORKSPACE.names}) values (${parameters(WORKSPACE)}) on conflict (name) do nothing`;

export const FIND = statement('find_workspace')`select ${WORKSPACE.names} from workspaces where name = $1`;

/** A no-op update that locks the rows until the end of the transaction: a portable row lock. */
export const LOCK = statement('lock_workspaces')`
  update workspaces set name = name where workspace_id = any ($1::bigint[]) returning workspace_id`;

export const RENAME = statement('rename_workspace')`
  update workspaces set name = $1 where workspace_id = $2 and name = $3 returning workspace_id`;

export const FIND_USER_GROUP = statement('find_user_group_of_workspace')`
  select 1 from user_groups where workspace_id = $1 limit 1`;

export const FIND_API_TOKEN = statement('find_api_token_of_workspace')`
  select 1 from api_tokens where workspace_id = $1
  and (revoked_at is null or revoked_at >= $2) and (expires_at is null or expires_at >= $2) limit 1`;

export const FIND_EVENT = statement('find_event_of_workspace')`
  select 1 from events where workspace_id = $1 limit 1`;

export const FIND_USAGE = statement('find_usage_of_workspace')`
  select 1 from usage_counts where workspace_id = $1 limit 1`;

export const DELETE_CONTENT = WORKSPACE_TABLES.map(
  (table) => statement(`delete_${table}_of_workspace`)`delete from ${table} where workspace_id = $1`,
);

export const DELETE = statement('delete_workspace')`delete from workspaces where workspace_id = $1`;

const UNIQUE_VIOLATION = '23505';

export const findWorkspace: QueryExecutor<'findWorkspace'> = async (session, { name }) =>
  WORKSPACE.readFirst(await session.query(FIND, [name]));

export const listWorkspaces: QueryExecutor<'listWorkspaces'> = async (session, { after, limit }) => {
  // Names are never empty.
  return WORKSPACE.readAll(await session.query(LIST, [after ?? '', limit]));
};

export const ensureWorkspace: CommandExecutor<'ensureWorkspace'> = async (
  session,
  { workspaceId, name, now },
) => {
  await session.query(INSERT, WORKSPACE.cells({ workspaceId, name, createdAt: now }));
  const [row] = await session.query(FIND, [name]);
  if (row === undefined) throw conflict(new Error('the workspace was deleted or renamed concurrently'));
  const workspace = WORKSPACE.read(row);
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
  const holder = await findWorkspace(session, { kind: 'findWorkspace', name: to });
  if (holder !== null && holder.workspaceId !== workspaceId) return 'name_taken';
  const renamed = await session.query(RENAME, [to, workspaceId, from]).catch(retryIfTaken);
  return renamed.length === 1 ? 'renamed' : 'not_found';
};

/** Another transaction took the name after the lookup: the next attempt finds it. */
function retryIfTaken(error: unknown): never {
  if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
  throw conflict(error);
}

/** Runs in a transaction. Separate statements, so that each check sees what was committed before the lock was acquired. */
export const deleteWorkspace: CommandExecutor<'deleteWorkspace'> = async (
  session,
  { workspaceId, endedBefore },
) => {
  const found = await lockWorkspaces(session, [workspaceId]);
  if (found.size === 0) return 'not_found';
  if ((await session.query(FIND_USER_GROUP, [workspaceId])).length > 0) return 'has_user_groups';
  if ((await session.query(FIND_API_TOKEN, [workspaceId, endedBefore])).length > 0) return 'has_api_tokens';
  for (const statement of [FIND_EVENT, FIND_USAGE])
    if ((await session.query(statement, [workspaceId])).length > 0) return 'has_history';
  for (const statement of DELETE_CONTENT) await session.query(statement, [workspaceId]);
  await session.query(DELETE, [workspaceId]);
  return 'deleted';
};
