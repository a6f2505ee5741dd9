// Making and revoking API tokens. Only the command line does this: no call of the API can.

import type { ApiToken, Permission } from '../domain/api-token.ts';
import type { Secret } from '../domain/secret.ts';
import { digestOf, mintApiToken } from '../domain/token.ts';
import type { Environment } from '../domain/user-group.ts';
import type { BatchedStore } from '../store/batched-store.ts';
import { leaseId } from './id-lease.ts';
import { ensureWorkspace } from './workspace.ts';

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
  await store.write({ kind: 'createApiToken', ...apiToken });
  return { apiToken, token, workspaceCreated: created };
}

/** Revokes the token from the next request on; false where there is no such token. */
export function revokeApiToken({ store, clock }: ApiTokenContext, apiTokenId: number): Promise<boolean> {
  return store.write({ kind: 'revokeApiToken', apiTokenId, now: clock() });
}
