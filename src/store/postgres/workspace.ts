import { toWorkspace, WORKSPACE_COLUMNS } from '../rows.ts';
import type { Command, CommandResult, Workspace } from '../store.ts';
import type { Session, Statement } from './pool.ts';

export const LIST: Statement = {
  name: 'list_workspaces',
  sql: `select ${WORKSPACE_COLUMNS} from workspaces order by name`,
};

export const INSERT: Statement = {
  name: 'create_workspace',
  sql: `insert into workspaces (${WORKSPACE_COLUMNS}) values ($1, $2, $3) on conflict (name) do nothing`,
};

export const FIND: Statement = {
  name: 'find_workspace',
  sql: `select ${WORKSPACE_COLUMNS} from workspaces where name = $1`,
};

export async function listWorkspaces(session: Session): Promise<Workspace[]> {
  return (await session.query(LIST)).map(toWorkspace);
}

export async function ensureWorkspace(
  session: Session,
  { workspaceId, name, now }: Command<'ensureWorkspace'>,
): Promise<CommandResult<'ensureWorkspace'>> {
  await session.query(INSERT, [workspaceId, name, now]);
  const [row] = await session.query(FIND, [name]);
  const workspace = toWorkspace(row);
  // No other command has this id.
  return { created: workspace.workspaceId === workspaceId, workspace };
}
