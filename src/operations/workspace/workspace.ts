// Looks workspaces up by name, and creates them together with their first content.

import { similarName } from '../../domain/suggest.ts';
import { environments } from '../../domain/tenant.ts';
import { startOfWorkspace } from '../../domain/webhook-endpoint/delivery.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { CommandResult, Workspace } from '../../store/port.ts';
import { type DeletionOptions, deleteAll, endpointsWithDeliveries } from '../event/purge.ts';
import { leaseId } from '../machinery/id-lease.ts';
import { pagesAfter } from '../pages.ts';

/** The workspace was deleted concurrently. */
export class WorkspaceDeleted extends Error {
  override readonly name = 'WorkspaceDeleted';

  constructor() {
    super('the workspace was deleted concurrently');
  }
}

const PAGE = 1_000;
/**
 * Maximum duration of a request, with a large margin. Requests of a revoked or expired API token may still be
 * in flight and create user groups; they time out after a few seconds. See
 * docs/decisions/0006-deleting-a-workspace.md.
 */
const MAX_REQUEST_MS = 60_000;
/** Time later than all history. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Returns null if no workspace has the name. */
export function findWorkspace(store: BatchingStore, name: string): Promise<Workspace | null> {
  return store.read({ kind: 'findWorkspace', name });
}

/** Yields all workspaces ordered by name, page by page. */
export function workspacePages(store: BatchingStore): AsyncGenerator<Workspace[]> {
  return pagesAfter<Workspace>(null, (last) =>
    store.read({ kind: 'listWorkspaces', after: last?.name ?? null, limit: PAGE }),
  );
}

export async function hasWorkspaces(store: BatchingStore): Promise<boolean> {
  return (await store.read({ kind: 'listWorkspaces', after: null, limit: 1 })).length > 0;
}

/** Returns an existing name that is similar to the unknown `name`, or null. */
export async function suggestWorkspace(store: BatchingStore, name: string): Promise<string | null> {
  let suggestion: string | null = null;
  for await (const page of workspacePages(store)) {
    const names = page.map((workspace) => workspace.name);
    suggestion = similarName(name, suggestion === null ? names : [suggestion, ...names]);
  }
  return suggestion;
}

export async function ensureWorkspace(
  store: BatchingStore,
  name: string,
  now: number,
): Promise<CommandResult<'ensureWorkspace'>> {
  const workspace = await findWorkspace(store, name);
  if (workspace !== null) return { created: false, workspace };
  const workspaceId = await leaseId(store, 'workspace_id');
  return store.write({ kind: 'ensureWorkspace', workspaceId, name, now });
}

export async function renameWorkspace(
  store: BatchingStore,
  from: string,
  to: string,
): Promise<CommandResult<'renameWorkspace'>> {
  const workspace = await findWorkspace(store, from);
  if (workspace === null) return 'not_found';
  return store.write({ kind: 'renameWorkspace', workspaceId: workspace.workspaceId, from, to });
}

/**
 * Deletes a workspace without user groups, and its API tokens, which must have been inactive for
 * `MAX_REQUEST_MS`.
 */
export async function deleteWorkspace(
  store: BatchingStore,
  name: string,
  now: number,
  onDeleted?: (rows: number) => void,
): Promise<Exclude<CommandResult<'deleteWorkspace'>, 'has_history'>> {
  const workspace = await findWorkspace(store, name);
  if (workspace === null) return 'not_found';
  const { workspaceId } = workspace;
  for (;;) {
    const endedBefore = now - MAX_REQUEST_MS;
    const result = await store.write({ kind: 'deleteWorkspace', workspaceId, endedBefore });
    if (result !== 'has_history') return result;
    // There may be millions of rows.
    await deleteHistory({ store, pauseMs: 0, onDeleted }, workspaceId);
  }
}

async function deleteHistory(options: DeletionOptions, workspaceId: number): Promise<void> {
  const { store } = options;
  for await (const endpoint of endpointsWithDeliveries(store, startOfWorkspace(workspaceId))) {
    if (endpoint.workspaceId !== workspaceId) break;
    const command = { kind: 'deleteOldDeliveries', endpoint, before: ALL } as const;
    await deleteAll(options, (batch) => store.write({ ...command, ...batch }));
  }
  for (const environment of environments)
    for (const kind of ['deleteOldEvents', 'deleteOldUsage'] as const) {
      const command = { kind, tenant: { workspaceId, environment }, before: ALL } as const;
      await deleteAll(options, (batch) => store.write({ ...command, ...batch }));
    }
}
