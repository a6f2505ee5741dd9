import type { FoundApiToken } from '../../domain/api-token.ts';
import type { ApiTokenRow, Command, Query } from '../port.ts';
import { API_TOKEN_COLUMNS, fromApiToken, toApiToken } from '../row-mapping.ts';
import type { Connection } from './connection.ts';
import { record } from './event.ts';

const FOUND_COLUMNS = `${API_TOKEN_COLUMNS}, coalesce((select config_version from environments
    where environments.workspace_id = api_tokens.workspace_id
      and environments.environment = api_tokens.environment), 0)`;
const FIND = `select ${FOUND_COLUMNS} from api_tokens where digest = ?`;
const FIND_PREVIOUS = `select ${FOUND_COLUMNS} from api_tokens where previous_digest = ?`;
const LISTED_COLUMNS = `${API_TOKEN_COLUMNS},
  (select name from workspaces where workspaces.workspace_id = api_tokens.workspace_id)`;
const LIST = `select ${LISTED_COLUMNS} from api_tokens where api_token_id > ? order by api_token_id limit ?`;
const LIST_OF = `select ${LISTED_COLUMNS} from api_tokens
  where workspace_id = ? and environment = ? and api_token_id > ? order by api_token_id limit ?`;
const CREATE = `insert into api_tokens (${API_TOKEN_COLUMNS})
  select ?1, workspace_id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 from workspaces where workspace_id = ?2`;
const REVOKE = 'update api_tokens set revoked_at = ? where api_token_id = ? and revoked_at is null';
const EXISTS = 'select 1 from api_tokens where api_token_id = ?';
const ROTATE = `update api_tokens set digest = ?, previous_digest = digest, previous_expires_at = ?
  where api_token_id = ? and digest = ? and revoked_at is null`;
const MARK_USED = `update api_tokens set last_used_at = ?1
  where api_token_id = ?2 and (last_used_at is null or last_used_at < ?1)`;

export function findApiToken(
  connection: Connection,
  { digest }: Query<'findApiToken'>,
): FoundApiToken | null {
  const row = connection.get(FIND, [digest]) ?? connection.get(FIND_PREVIOUS, [digest]);
  return row === undefined ? null : { ...toApiToken(row), configVersion: row.at(-1) as number };
}

export function listApiTokens(
  connection: Connection,
  { of, after, limit }: Query<'listApiTokens'>,
): ApiTokenRow[] {
  const rows =
    of === null
      ? connection.all(LIST, [after, limit])
      : connection.all(LIST_OF, [of.workspaceId, of.environment, after, limit]);
  return rows.map((row) => ({ ...toApiToken(row), workspaceName: row.at(-1) as string }));
}

export function createApiToken(connection: Connection, command: Command<'createApiToken'>): boolean {
  const isCreated = connection.run(CREATE, fromApiToken(command)) === 1;
  if (isCreated) record(connection, command.event, null, null);
  return isCreated;
}

export function revokeApiToken(
  connection: Connection,
  { apiTokenId, now, event }: Command<'revokeApiToken'>,
): boolean {
  const isRevoked = connection.run(REVOKE, [now, apiTokenId]) === 1;
  if (isRevoked) record(connection, event, null, null);
  return isRevoked || connection.get(EXISTS, [apiTokenId]) !== undefined;
}

export function rotateApiToken(
  connection: Connection,
  { apiTokenId, currentDigest, digest, previousExpiresAt, event }: Command<'rotateApiToken'>,
): boolean {
  const isRotated = connection.run(ROTATE, [digest, previousExpiresAt, apiTokenId, currentDigest]) === 1;
  if (isRotated) record(connection, event, null, null);
  return isRotated;
}

export function markApiTokensUsed(
  connection: Connection,
  { apiTokenIds, at }: Command<'markApiTokensUsed'>,
): null {
  for (const apiTokenId of apiTokenIds) connection.run(MARK_USED, [at, apiTokenId]);
  return null;
}
