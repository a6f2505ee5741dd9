import { type ApiToken, apiTokenFields } from '../../domain/api-token.ts';
import { Changes } from '../../domain/event/changes.ts';
import { API_TOKEN } from '../entities.ts';
import { apiTokenExists } from '../reads.ts';
import { REVOKE_API_TOKEN, ROTATE_API_TOKEN } from '../writes.ts';
import { record } from './event/record.ts';
import type { CommandExecutor, QueryExecutor } from './executor.ts';
import type { Connection } from './file/connection.ts';
import { hasWorkspace } from './workspace.ts';

const FOUND_COLUMNS = `${API_TOKEN.names}, coalesce((select config_version from environments
    where environments.workspace_id = api_tokens.workspace_id
      and environments.environment = api_tokens.environment), 0)`;
const FIND = `select ${FOUND_COLUMNS} from api_tokens where digest = ?`;
const FIND_PREVIOUS = `select ${FOUND_COLUMNS} from api_tokens where previous_digest = ?`;
const CREATE = `insert into api_tokens (${API_TOKEN.names}) values (${API_TOKEN.parameters})
  on conflict (digest) do nothing`;
const UNREVOKED = 'from api_tokens where workspace_id = ?1 and environment = ?2 and revoked_at is null';
/** Reads no expired API token. */
export const COUNT_ACTIVE = `select (select count(*) ${UNREVOKED} and expires_at is null)
    + (select count(*) ${UNREVOKED} and expires_at > ?3)`;
const MARK_USED = `update api_tokens set last_used_at = ?1
  where api_token_id = ?2 and (last_used_at is null or last_used_at < ?1)`;

export const findApiToken: QueryExecutor<'findApiToken'> = (connection, { digest }) => {
  const row = connection.get(FIND, [digest]) ?? connection.get(FIND_PREVIOUS, [digest]);
  return row === undefined ? null : { ...API_TOKEN.read(row), configVersion: row.at(-1) as number };
};

export const createApiToken: CommandExecutor<'createApiToken'> = (connection, command) => {
  const { workspaceId, limit, event } = command;
  if (!hasWorkspace(connection, workspaceId)) return 'workspace_not_found';
  if (limit !== undefined && countActive(connection, command) >= limit) return 'limit_reached';
  if (connection.run(CREATE, API_TOKEN.cells(command)) === 0) return 'digest_taken';
  record(connection, event, null, () => new Changes(null, apiTokenFields(command)));
  return 'created';
};

function countActive(connection: Connection, { workspaceId, environment, createdAt }: ApiToken): number {
  return (connection.get(COUNT_ACTIVE, [workspaceId, environment, createdAt]) as [number])[0];
}

export const revokeApiToken: CommandExecutor<'revokeApiToken'> = (connection, { apiTokenId, now, event }) => {
  const isRevoked = connection.query(REVOKE_API_TOKEN, [now, apiTokenId]).length === 1;
  if (isRevoked) record(connection, event, null);
  return isRevoked || connection.read(apiTokenExists(apiTokenId));
};

export const rotateApiToken: CommandExecutor<'rotateApiToken'> = (
  connection,
  { apiTokenId, currentDigest, digest, previousExpiresAt, event },
) => {
  const rows = connection.query(ROTATE_API_TOKEN, [digest, previousExpiresAt, apiTokenId, currentDigest]);
  const isRotated = rows.length === 1;
  if (isRotated) record(connection, event, null);
  return isRotated;
};

export const markApiTokensUsed: CommandExecutor<'markApiTokensUsed'> = (connection, { apiTokenIds, at }) => {
  for (const apiTokenId of apiTokenIds) connection.run(MARK_USED, [at, apiTokenId]);
  return null;
};
