// Looks workspaces up by name, and creates them together with their first content.

import { similarName } from '../../domain/suggest.ts';
import { environments, type Tenant } from '../../domain/tenant.ts';
import { startOfWorkspace } from '../../domain/webhook-endpoint/delivery.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { CommandResult, Continuation, DeletedRows, DeletionBatch, Workspace } from '../../store/port.ts';
import { endpointsWithDeliveries } from '../event/purge.ts';
import { leaseId } from '../machinery/id-lease.ts';
import { inBatches, pagesAfter } from '../pages.ts';

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

/** Called with the number of rows of each transaction. */
type OnDeleted = (rows: number) => void;

/**
 * Deletes a workspace without user groups, and its API tokens, which must have been inactive for
 * `MAX_REQUEST_MS`.
 */
export async function deleteWorkspace(
  store: BatchingStore,
  name: string,
  now: number,
  onDeleted?: OnDeleted,
): Promise<Exclude<CommandResult<'deleteWorkspace'>, 'has_history'>> {
  const workspace = await findWorkspace(store, name);
  if (workspace === null) return 'not_found';
  const { workspaceId } = workspace;
  for (;;) {
    const endedBefore = now - MAX_REQUEST_MS;
    const result = await store.write({ kind: 'deleteWorkspace', workspaceId, endedBefore });
    if (result !== 'has_history') return result;
    // Deletes its history in small transactions, because there may be millions of rows.
    await deleteDeliveries(store, workspaceId, onDeleted);
    for (const environment of environments)
      await deleteHistory(store, { workspaceId, environment }, onDeleted);
  }
}

async function deleteDeliveries(
  store: BatchingStore,
  workspaceId: number,
  onDeleted?: OnDeleted,
): Promise<void> {
  for await (const endpoint of endpointsWithDeliveries(store, startOfWorkspace(workspaceId))) {
    if (endpoint.workspaceId !== workspaceId) return;
    const command = { kind: 'deleteOldDeliveries', endpoint, before: ALL } as const;
    await deleteAll((batch) => store.write({ ...command, ...batch }), onDeleted);
  }
}

async function deleteHistory(store: BatchingStore, tenant: Tenant, onDeleted?: OnDeleted): Promise<void> {
  for (const kind of ['deleteOldEvents', 'deleteOldUsage'] as const)
    await deleteAll((batch) => store.write({ kind, tenant, before: ALL, ...batch }), onDeleted);
}

async function deleteAll(
  deletion: (batch: DeletionBatch) => Promise<DeletedRows>,
  onDeleted: OnDeleted = () => {},
): Promise<void> {
  let after: Continuation | undefined;
  await inBatches(async (limit) => {
    const { deleted, next } = await deletion({ limit, after });
    after = next;
    onDeleted(deleted);
    return deleted;
  });
}
