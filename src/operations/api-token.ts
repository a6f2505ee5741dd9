// API tokens: created, listed, rotated and revoked. Their texts are not stored.

import { type ApiToken, type Caller, operator, type Permission } from '../domain/api-token.ts';
import type { Secret } from '../domain/secret.ts';
import { digestOf, mintApiToken } from '../domain/token.ts';
import type { Environment } from '../domain/user-group.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import type { ApiTokenRow } from '../store/port.ts';
import { type EventContext, newEvent } from './event.ts';
import { leaseId } from './id-lease.ts';
import { ensureWorkspace, WorkspaceDeleted } from './workspace.ts';

const PAGE = 1_000;

export interface ApiTokenFields {
  permission: Permission;
  name: string | null;
  expiresAt: number | null;
}

export interface NewApiToken extends ApiTokenFields {
  workspaceName: string;
  environment: Environment;
}

export interface IssuedApiToken {
  apiToken: ApiToken;
  token: Secret;
}

/** Creates an API token for the operator, and its workspace if it does not exist. Throws `WorkspaceDeleted`. */
export async function createApiToken(
  context: EventContext,
  { workspaceName, environment, ...fields }: NewApiToken,
): Promise<IssuedApiToken & { workspaceCreated: boolean }> {
  const { store, clock } = context;
  const { workspace, created } = await ensureWorkspace(store, workspaceName, clock());
  const issued = await issueApiToken(context, operator(workspace.workspaceId, environment), fields);
  return { ...issued, workspaceCreated: created };
}

/** Creates an API token of the caller's workspace and environment. Throws `WorkspaceDeleted`. */
export async function issueApiToken(
  context: EventContext,
  caller: Caller,
  fields: ApiTokenFields,
  token: Secret = mintApiToken(),
): Promise<IssuedApiToken> {
  const { store, clock } = context;
  const apiToken: ApiToken = {
    apiTokenId: await leaseId(store, 'api_token_id'),
    workspaceId: caller.workspaceId,
    environment: caller.environment,
    permission: fields.permission,
    name: fields.name,
    digest: digestOf(token.reveal()),
    previousDigest: null,
    previousExpiresAt: null,
    createdAt: clock(),
    expiresAt: fields.expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  };
  const event = await newEvent(context, caller, 'api_token.created', targetOf(apiToken));
  if (!(await store.write({ kind: 'createApiToken', ...apiToken, event }))) throw new WorkspaceDeleted();
  return { apiToken, token };
}

/** Yields all API tokens ordered by id, page by page. */
export async function* apiTokenPages(store: BatchingStore): AsyncGenerator<ApiTokenRow[]> {
  let after = 0;
  for (;;) {
    const page: ApiTokenRow[] = await store.read({ kind: 'listApiTokens', of: null, after, limit: PAGE });
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.apiTokenId;
  }
}

/** Returns the token with this id, of any workspace; null if there is none. */
export async function findApiTokenById(
  store: BatchingStore,
  apiTokenId: number,
): Promise<ApiTokenRow | null> {
  const after = apiTokenId - 1;
  const [found] = await store.read({ kind: 'listApiTokens', of: null, after, limit: 1 });
  return found?.apiTokenId === apiTokenId ? found : null;
}

/** Revokes the token, effective with the next request. */
export async function revokeApiToken(
  context: EventContext,
  caller: Caller,
  apiToken: Pick<ApiToken, 'apiTokenId'>,
): Promise<void> {
  const { store, clock } = context;
  const { apiTokenId } = apiToken;
  const event = await newEvent(context, caller, 'api_token.revoked', targetOf(apiToken));
  await store.write({ kind: 'revokeApiToken', apiTokenId, now: clock(), event });
}

function targetOf({ apiTokenId }: Pick<ApiToken, 'apiTokenId'>) {
  return { type: 'api_token', id: String(apiTokenId) } as const;
}
