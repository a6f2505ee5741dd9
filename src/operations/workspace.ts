// Workspaces are found by their names, and made when something is first put into them.

import type { BatchedStore } from '../store/batched-store.ts';
import type { CommandResult, Workspace } from '../store/store.ts';
import { leaseId } from './id-lease.ts';

/** null where there is none of the name. */
export async function findWorkspace(store: BatchedStore, name: string): Promise<Workspace | null> {
  const workspaces = await store.read({ kind: 'listWorkspaces' });
  return workspaces.find((workspace) => workspace.name === name) ?? null;
}

export async function ensureWorkspace(
  store: BatchedStore,
  name: string,
  now: number,
): Promise<CommandResult<'ensureWorkspace'>> {
  const workspace = await findWorkspace(store, name);
  if (workspace !== null) return { created: false, workspace };
  const workspaceId = await leaseId(store, 'workspace_id');
  return store.write({ kind: 'ensureWorkspace', workspaceId, name, now });
}
