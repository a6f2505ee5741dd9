import type { ApiToken } from '../../domain/api-token.ts';
import type { TokenDigest } from '../../domain/token.ts';
import type { ApiTokenRow, Command, Query } from '../port.ts';
import { API_TOKEN_COLUMNS, fromApiToken, toApiToken } from '../row-mapping.ts';
import type { Session, Statement } from './client/pool.ts';
import { lockWorkspaces } from './workspace.ts';

export const FIND: Statement = {
  name: 'find_api_tokens',
  sql: `select ${API_TOKEN_COLUMNS} from api_tokens where digest = any ($1::text[])`,
};

export const LIST: Statement = {
  name: 'list_api_tokens',
  sql: `select ${API_TOKEN_COLUMNS},
      (select workspaces.name from workspaces where workspaces.workspace_id = api_tokens.workspace_id)
    from api_tokens where api_token_id > $1 order by api_token_id limit $2`,
};

// The id is unique to this command: a conflict means that an earlier attempt of it was applied.
export const CREATE: Statement = {
  name: 'create_api_token',
  sql: `insert into api_tokens (${API_TOKEN_COLUMNS})
    select $1::bigint, workspace_id, $3::text, $4::text, $5::text, $6::text, $7::bigint, $8::bigint, $9::bigint
    from workspaces where workspace_id = $2::bigint
    on conflict (api_token_id) do nothing`,
};

export const REVOKE: Statement = {
  name: 'revoke_api_token',
  sql: `update api_tokens set revoked_at = coalesce(revoked_at, $1) where api_token_id = $2
    returning api_token_id`,
};

/** A batch has few different API tokens: each one is looked up once. */
export async function findApiTokens(
  session: Session,
  queries: readonly Query<'findApiToken'>[],
): Promise<(ApiToken | null)[]> {
  const digests = [...new Set(queries.map(({ digest }) => digest))];
  const rows = await session.query(FIND, [digests]);
  const found = new Map<TokenDigest, ApiToken>();
  for (const row of rows) {
    const apiToken = toApiToken(row)!;
    found.set(apiToken.digest, apiToken);
  }
  return queries.map(({ digest }) => found.get(digest) ?? null);
}

export async function listApiTokens(
  session: Session,
  { after, limit }: Query<'listApiTokens'>,
): Promise<ApiTokenRow[]> {
  const rows = await session.query(LIST, [after, limit]);
  return rows.map((row) => ({ ...toApiToken(row)!, workspaceName: row.at(-1) as string }));
}

/** Both statements travel together, and so are one transaction. */
export async function createApiToken(session: Session, command: Command<'createApiToken'>): Promise<boolean> {
  const [found] = await Promise.all([
    lockWorkspaces(session, [command.workspaceId]),
    session.query(CREATE, fromApiToken(command)),
  ]);
  return found.size === 1;
}

export async function revokeApiToken(session: Session, command: Command<'revokeApiToken'>): Promise<boolean> {
  return (await session.query(REVOKE, [command.now, command.apiTokenId])).length === 1;
}
