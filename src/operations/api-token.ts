// Making and revoking API tokens. Only the command line does this: no call of the API can.

import type { ApiToken, Permission } from '../domain/api-token.ts';
import type { Secret } from '../domain/secret.ts';
import { digestOf, mintApiToken } from '../domain/token.ts';
import type { Environment } from '../domain/user-group.ts';
import type { BatchedStore } from '../store/batcher.ts';
import type { IdSequence } from '../store/store.ts';

export interface NewApiToken {
  workspaceName: string;
  environment: Environment;
  permission: Permission;
  name: string | null;
  expiresAt: number | null;
}

interface ApiTokenContext {
  store: BatchedStore;
  clock: () => number;
}

/** Makes an API token, and its workspace where there is none of the name. The token's text is kept nowhere. */
export async function createApiToken(
  { store, clock }: ApiTokenContext,
  { workspaceName, ...fields }: NewApiToken,
): Promise<{ apiToken: ApiToken; token: Secret; workspaceCreated: boolean }> {
  const now = clock();
  const workspaces = await store.read({ kind: 'listWorkspaces' });
  let workspace = workspaces.find(({ name }) => name === workspaceName);
  let workspaceCreated = false;
  if (workspace === undefined) {
    const workspaceId = await leaseOne(store, 'workspace_id');
    const made = await store.write({ kind: 'ensureWorkspace', workspaceId, name: workspaceName, now });
    workspace = made.workspace;
    workspaceCreated = made.created;
  }
  const token = mintApiToken();
  const apiToken = {
    apiTokenId: await leaseOne(store, 'api_token_id'),
    workspaceId: workspace.workspaceId,
    ...fields,
    digest: digestOf(token.reveal()),
    createdAt: now,
    revokedAt: null,
  };
  await store.write({ kind: 'createApiToken', ...apiToken });
  return { apiToken, token, workspaceCreated };
}

/** Revokes the token from the next request on; false where there is no such token. */
export function revokeApiToken({ store, clock }: ApiTokenContext, apiTokenId: number): Promise<boolean> {
  return store.write({ kind: 'revokeApiToken', apiTokenId, now: clock() });
}

function leaseOne(store: BatchedStore, sequence: IdSequence): Promise<number> {
  return store.write({ kind: 'leaseIds', sequence, count: 1 });
}
