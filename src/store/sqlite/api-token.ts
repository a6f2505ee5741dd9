import type { ApiToken } from '../../domain/api-token.ts';
import type { ApiTokenRow, Command, Query } from '../port.ts';
import { API_TOKEN_COLUMNS, fromApiToken, toApiToken } from '../row-mapping.ts';
import type { Connection } from './connection.ts';

const FIND = `select ${API_TOKEN_COLUMNS} from api_tokens where digest = ?`;
const LIST = `select ${API_TOKEN_COLUMNS},
  (select name from workspaces where workspaces.workspace_id = api_tokens.workspace_id)
  from api_tokens where api_token_id > ? order by api_token_id limit ?`;
const CREATE = `insert into api_tokens (${API_TOKEN_COLUMNS})
  select ?1, workspace_id, ?3, ?4, ?5, ?6, ?7, ?8, ?9 from workspaces where workspace_id = ?2`;
const REVOKE = 'update api_tokens set revoked_at = coalesce(revoked_at, ?) where api_token_id = ?';

export function findApiToken(connection: Connection, { digest }: Query<'findApiToken'>): ApiToken | null {
  return toApiToken(connection.get(FIND, [digest]));
}

export function listApiTokens(
  connection: Connection,
  { after, limit }: Query<'listApiTokens'>,
): ApiTokenRow[] {
  const rows = connection.all(LIST, [after, limit]);
  return rows.map((row) => ({ ...toApiToken(row)!, workspaceName: row.at(-1) as string }));
}

export function createApiToken(connection: Connection, command: Command<'createApiToken'>): boolean {
  return connection.run(CREATE, fromApiToken(command)) === 1;
}

export function revokeApiToken(
  connection: Connection,
  { apiTokenId, now }: Command<'revokeApiToken'>,
): boolean {
  return connection.run(REVOKE, [now, apiTokenId]) === 1;
}
