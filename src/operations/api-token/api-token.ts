// Creates, lists, rotates and revokes API tokens. Their texts are not stored.

import {
  type ApiToken,
  apiTokenStatus,
  apiTokenTextTag,
  type Caller,
  operator,
} from '../../domain/api-token.ts';
import { encodeCursor, type ListName } from '../../domain/cursor.ts';
import type { Secret } from '../../domain/secret.ts';
import { type Environment, isSameTenant, tenantOf } from '../../domain/tenant.ts';
import { digestToken, mintApiToken } from '../../domain/token.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { ApiTokenRow } from '../../store/port.ts';
import { type EventContext, newEvent } from '../event/event.ts';
import { firstPage, type PageQuery, readCursor } from '../list-cursor.ts';
import { leaseId } from '../machinery/id-lease.ts';
import { pagesAfter } from '../pages.ts';
import {
  apiTokenInactive,
  apiTokenLimitReached,
  apiTokenNotFound,
  changedTooOften,
  MAX_ATTEMPTS,
  versionMismatch,
} from '../refusals.ts';
import { ensureWorkspace, WorkspaceDeleted } from '../workspace/workspace.ts';

/** Estimated size of an API token in a list, without its name. */
const LISTED_BYTES = 512;
const PAGE = 1_000;
const NUMBER = /^\d{1,15}$/;

type ApiTokenFields = Pick<ApiToken, 'permission'> & Partial<Pick<ApiToken, 'name' | 'expiresAt'>>;

export type NewApiToken = ApiTokenFields & { workspaceName: string; environment: Environment };

export interface IssuedApiToken {
  apiToken: ApiToken;
  token: Secret;
}

/** An API token with the same text exists. */
export class ApiTokenTaken extends Error {
  override readonly name = 'ApiTokenTaken';
}

interface IssueOptions {
  /** Text of the API token; a new one is minted if absent. */
  token?: Secret;
  /** Maximum number of active API tokens in the workspace and environment. */
  limit?: number;
}

/**
 * Creates an API token for the operator, and its workspace if that does not exist. Throws `WorkspaceDeleted`.
 */
export async function createApiToken(
  context: EventContext,
  { workspaceName, environment, ...fields }: NewApiToken,
  options: IssueOptions = {},
): Promise<IssuedApiToken & { workspaceCreated: boolean }> {
  const { store, clock } = context;
  const { workspace, created } = await ensureWorkspace(store, workspaceName, clock());
  const caller = operator({ ...workspace, environment });
  const issued = await issueApiToken(context, caller, fields, options);
  return { ...issued, workspaceCreated: created };
}

/**
 * Creates an API token in the caller's workspace and environment. Throws `limit_reached`, `ApiTokenTaken` and
 * `WorkspaceDeleted`.
 */
export async function issueApiToken(
  context: EventContext,
  caller: Caller,
  { permission, name = null, expiresAt = null }: ApiTokenFields,
  { token = mintApiToken(), limit }: IssueOptions = {},
): Promise<IssuedApiToken> {
  const { store, clock } = context;
  const apiToken: ApiToken = {
    apiTokenId: await leaseId(store, 'api_token_id'),
    workspaceId: caller.workspaceId,
    environment: caller.environment,
    permission,
    name,
    digest: digestToken(token.reveal()),
    previousDigest: null,
    previousExpiresAt: null,
    createdAt: clock(),
    expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  };
  const event = await newEvent(context, caller, 'api_token.created', String(apiToken.apiTokenId));
  const result = await store.write({
    kind: 'createApiToken',
    ...apiToken,
    ...(limit !== undefined && { limit }),
    event,
  });
  switch (result) {
    case 'created':
      return { apiToken, token };
    case 'workspace_not_found':
      throw new WorkspaceDeleted();
    case 'digest_taken':
      throw new ApiTokenTaken('an API token with this text exists');
    case 'limit_reached':
      throw apiTokenLimitReached();
    default:
      return result satisfies never;
  }
}

interface ApiTokenPage {
  apiTokens: ApiToken[];
  /** null at the end of the list. */
  nextCursor: string | null;
}

/** Lists the API tokens of the caller's workspace and environment, in id order. Throws `invalid_request`. */
export async function listApiTokens(
  { store }: Pick<EventContext, 'store'>,
  caller: Caller,
  { limit, cursor }: PageQuery,
): Promise<ApiTokenPage> {
  const list = ['api_tokens', caller.workspaceId, caller.environment];
  const after = cursor === undefined ? 0 : Number(readCursor(list, cursor, NUMBER));
  const tenant = tenantOf(caller);
  const found = await store.read({ kind: 'listApiTokens', tenant, after, limit: limit + 1 });
  return toPage(list, found, limit);
}

/** Lists the revoked API tokens, or all others; newest first. */
export async function listNewestApiTokens(
  { store }: Pick<EventContext, 'store'>,
  caller: Caller,
  { limit, cursor, isRevoked }: PageQuery & { isRevoked: boolean },
): Promise<ApiTokenPage> {
  const list = ['newest_api_tokens', caller.workspaceId, caller.environment, String(isRevoked)];
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(readCursor(list, cursor, NUMBER));
  const query = { tenant: tenantOf(caller), before, isRevoked, limit: limit + 1 };
  const found = await store.read({ kind: 'listNewestApiTokens', ...query });
  return toPage(list, found, limit);
}

/** Builds a page from the tokens found, which are one more than `limit` if another page follows. */
function toPage(list: ListName, found: readonly ApiToken[], limit: number): ApiTokenPage {
  const apiTokens = firstPage(found, limit, ({ name }) => LISTED_BYTES + Buffer.byteLength(name ?? ''));
  const hasMore = found.length > apiTokens.length;
  return { apiTokens, nextCursor: hasMore ? encodeCursor(list, String(apiTokens.at(-1)!.apiTokenId)) : null };
}

/** Throws `api_token_not_found`, also for a token of another workspace or environment. */
export async function readApiToken(
  { store }: Pick<EventContext, 'store'>,
  caller: Caller,
  apiTokenId: number,
): Promise<ApiTokenRow> {
  const apiToken = await findApiTokenById(store, apiTokenId);
  if (apiToken === null || !isSameTenant(apiToken, caller)) throw apiTokenNotFound();
  return apiToken;
}

/** Yields all API tokens ordered by id, page by page. */
export function apiTokenPages(store: BatchingStore): AsyncGenerator<ApiTokenRow[]> {
  return pagesAfter<ApiTokenRow>(null, (last) =>
    store.read({ kind: 'listApiTokens', tenant: null, after: last?.apiTokenId ?? 0, limit: PAGE }),
  );
}

/** Returns the token with this id, in any workspace; null if there is none. */
export function findApiTokenById(store: BatchingStore, apiTokenId: number): Promise<ApiTokenRow | null> {
  return store.read({ kind: 'findApiTokenById', apiTokenId });
}

/**
 * Revokes the token, effective with the next request; a token that is already revoked stays unchanged. Throws
 * `api_token_not_found`.
 */
export async function revokeApiToken(
  context: EventContext,
  caller: Caller,
  apiTokenId: number,
): Promise<void> {
  const { store, clock } = context;
  const apiToken = await readApiToken(context, caller, apiTokenId);
  const event = await newEvent(context, caller, 'api_token.revoked', String(apiToken.apiTokenId));
  const exists = await store.write({ kind: 'revokeApiToken', apiTokenId, now: clock(), event });
  if (!exists) throw apiTokenNotFound();
}

/**
 * Gives the token a new text. The replaced text is rejected after the grace period, or from the next request
 * without one; a text that an earlier rotation replaced is rejected at once. Not idempotent, unless `textTag`
 * names the text to replace. Throws `api_token_not_found`, `version_mismatch` if the token has another text,
 * and `api_token_inactive` if it is revoked or expired.
 */
export async function rotateApiToken(
  context: EventContext,
  caller: Caller,
  apiTokenId: number,
  gracePeriodSeconds: number,
  textTag?: string,
): Promise<IssuedApiToken> {
  const { store, clock } = context;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const stored = await readApiToken(context, caller, apiTokenId);
    const status = apiTokenStatus(stored, clock());
    if (status !== 'active') throw apiTokenInactive(status);
    if (textTag !== undefined && apiTokenTextTag(stored) !== textTag) throw versionMismatch('API token');
    const token = mintApiToken();
    const digest = digestToken(token.reveal());
    // Without a grace period, null instead of the current time: setting the clock back must not revive the
    // text.
    const graceEnd = gracePeriodSeconds === 0 ? null : clock() + gracePeriodSeconds * 1_000;
    const previousExpiresAt = graceEnd && Math.min(graceEnd, stored.expiresAt ?? Number.POSITIVE_INFINITY);
    const previousDigest = stored.digest;
    const isRotated = await store.write({
      kind: 'rotateApiToken',
      apiTokenId,
      currentDigest: previousDigest,
      digest,
      previousExpiresAt,
      event: await newEvent(context, caller, 'api_token.rotated', String(apiTokenId)),
    });
    if (isRotated) return { apiToken: { ...stored, digest, previousDigest, previousExpiresAt }, token };
    // The token was rotated or revoked concurrently.
  }
  throw changedTooOften('API token');
}
