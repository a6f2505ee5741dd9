// Creates, lists and revokes API tokens. Available only on the command line, not in the API.

import type { ApiToken, Permission } from '../domain/api-token.ts';
import type { Secret } from '../domain/secret.ts';
import { digestOf, mintApiToken } from '../domain/token.ts';
import type { Environment } from '../domain/user-group.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import type { ApiTokenRow } from '../store/port.ts';
import { leaseId } from './id-lease.ts';
import { ensureWorkspace, WorkspaceDeleted } from './workspace.ts';

const PAGE = 1_000;

export interface NewApiToken {
  workspaceName: string;
  environment: Environment;
  permission: Permission;
  name: string | null;
  expiresAt: number | null;
}

interface ApiTokenContext {
  store: BatchingStore;
  clock: () => number;
}

/**
 * Creates an API token, and its workspace if it does not exist. The token itself is not stored. Throws
 * `WorkspaceDeleted`.
 */
export async function createApiToken(
  { store, clock }: ApiTokenContext,
  { workspaceName, ...fields }: NewApiToken,
): Promise<{ apiToken: ApiToken; token: Secret; workspaceCreated: boolean }> {
  const now = clock();
  const { workspace, created } = await ensureWorkspace(store, workspaceName, now);
  const token = mintApiToken();
  const apiToken = {
    apiTokenId: await leaseId(store, 'api_token_id'),
    workspaceId: workspace.workspaceId,
    ...fields,
    digest: digestOf(token.reveal()),
    createdAt: now,
    revokedAt: null,
  };
  if (!(await store.write({ kind: 'createApiToken', ...apiToken }))) throw new WorkspaceDeleted();
  return { apiToken, token, workspaceCreated: created };
}

/** Yields all API tokens ordered by id, page by page. */
export async function* apiTokenPages(store: BatchingStore): AsyncGenerator<ApiTokenRow[]> {
  let after = 0;
  for (;;) {
    const page: ApiTokenRow[] = await store.read({ kind: 'listApiTokens', after, limit: PAGE });
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.apiTokenId;
  }
}

/** Revokes the token, effective with the next request. Returns false if the token does not exist. */
export function revokeApiToken({ store, clock }: ApiTokenContext, apiTokenId: number): Promise<boolean> {
  return store.write({ kind: 'revokeApiToken', apiTokenId, now: clock() });
}
