import { type ApiToken, apiTokenFields } from '../../domain/api-token.ts';
import { Changes } from '../../domain/event/changes.ts';
import { API_TOKEN } from '../entities.ts';
import { record } from './event/event.ts';
import type { CommandExecutor, QueryExecutor } from './executor.ts';
import type { Connection } from './file/connection.ts';
import { placeholders } from './placeholders.ts';

const FOUND_COLUMNS = `${API_TOKEN.names}, coalesce((select config_version from environments
    where environments.workspace_id = api_tokens.workspace_id
      and environments.environment = api_tokens.environment), 0)`;
const FIND = `select ${FOUND_COLUMNS} from api_tokens where digest = ?`;
const FIND_PREVIOUS = `select ${FOUND_COLUMNS} from api_tokens where previous_digest = ?`;
const FIND_BY_ID = `select ${API_TOKEN.names} from api_tokens where api_token_id = ?`;
const LISTED_COLUMNS = `${API_TOKEN.names},
  (select name from workspaces where workspaces.workspace_id = api_tokens.workspace_id)`;
const LIST = `select ${LISTED_COLUMNS} from api_tokens where api_token_id > ? order by api_token_id limit ?`;
const LIST_OF = `select ${LISTED_COLUMNS} from api_tokens
  where workspace_id = ? and environment = ? and api_token_id > ? order by api_token_id limit ?`;
const LIST_NEWEST = `select ${API_TOKEN.names} from api_tokens
  where workspace_id = ? and environment = ? and api_token_id < ? and (revoked_at is not null) = ?
  order by api_token_id desc limit ?`;
const CREATE = `insert into api_tokens (${API_TOKEN.names}) values (${placeholders(API_TOKEN)})
  on conflict (digest) do nothing`;
const COUNT_ACTIVE = `select count(*) from api_tokens where workspace_id = ? and environment = ?
    and revoked_at is null and (expires_at is null or expires_at > ?)`;
const WORKSPACE_EXISTS = 'select 1 from workspaces where workspace_id = ?';
const REVOKE = 'update api_tokens set revoked_at = ? where api_token_id = ? and revoked_at is null';
const EXISTS = 'select 1 from api_tokens where api_token_id = ?';
const ROTATE = `update api_tokens set digest = ?, previous_digest = digest, previous_expires_at = ?
  where api_token_id = ? and digest = ? and revoked_at is null`;
const MARK_USED = `update api_tokens set last_used_at = ?1
  where api_token_id = ?2 and (last_used_at is null or last_used_at < ?1)`;

export const findApiToken: QueryExecutor<'findApiToken'> = (connection, { digest }) => {
  const row = connection.get(FIND, [digest]) ?? connection.get(FIND_PREVIOUS, [digest]);
  return row === undefined ? null : { ...API_TOKEN.read(row), configVersion: row.at(-1) as number };
};

export const findApiTokenById: QueryExecutor<'findApiTokenById'> = (connection, { apiTokenId }) =>
  API_TOKEN.readOrNull(connection.get(FIND_BY_ID, [apiTokenId]));

export const listApiTokens: QueryExecutor<'listApiTokens'> = (connection, { tenant, after, limit }) => {
  const rows =
    tenant === null
      ? connection.all(LIST, [after, limit])
      : connection.all(LIST_OF, [tenant.workspaceId, tenant.environment, after, limit]);
  return rows.map((row) => ({ ...API_TOKEN.read(row), workspaceName: row.at(-1) as string }));
};

export const listNewestApiTokens: QueryExecutor<'listNewestApiTokens'> = (
  connection,
  { tenant, before, isRevoked, limit },
) => {
  const values = [tenant.workspaceId, tenant.environment, before, Number(isRevoked), limit];
  return API_TOKEN.readAll(connection.all(LIST_NEWEST, values));
};

export const createApiToken: CommandExecutor<'createApiToken'> = (connection, command) => {
  const { workspaceId, limit, event } = command;
  if (connection.get(WORKSPACE_EXISTS, [workspaceId]) === undefined) return 'workspace_not_found';
  if (limit !== undefined && countActive(connection, command) >= limit) return 'limit_reached';
  if (connection.run(CREATE, API_TOKEN.cells(command)) === 0) return 'digest_taken';
  record(connection, event, null, () => new Changes(null, apiTokenFields(command)));
  return 'created';
};

function countActive(connection: Connection, { workspaceId, environment, createdAt }: ApiToken): number {
  return (connection.get(COUNT_ACTIVE, [workspaceId, environment, createdAt]) as [number])[0];
}

export const revokeApiToken: CommandExecutor<'revokeApiToken'> = (connection, { apiTokenId, now, event }) => {
  const isRevoked = connection.run(REVOKE, [now, apiTokenId]) === 1;
  if (isRevoked) record(connection, event, null);
  return isRevoked || connection.get(EXISTS, [apiTokenId]) !== undefined;
};

export const rotateApiToken: CommandExecutor<'rotateApiToken'> = (
  connection,
  { apiTokenId, currentDigest, digest, previousExpiresAt, event },
) => {
  const isRotated = connection.run(ROTATE, [digest, previousExpiresAt, apiTokenId, currentDigest]) === 1;
  if (isRotated) record(connection, event, null);
  return isRotated;
};

export const markApiTokensUsed: CommandExecutor<'markApiTokensUsed'> = (connection, { apiTokenIds, at }) => {
  for (const apiTokenId of apiTokenIds) connection.run(MARK_USED, [at, apiTokenId]);
  return null;
};
