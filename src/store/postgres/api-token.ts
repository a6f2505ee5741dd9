import { type ApiToken, apiTokenFields, type FoundApiToken } from '../../domain/api-token.ts';
import { Changes } from '../../domain/event/changes.ts';
import type { TokenDigest } from '../../domain/token.ts';
import { API_TOKEN } from '../entities.ts';
import { apiTokenExists } from '../reads.ts';
import { statement } from '../statement.ts';
import { REVOKE_API_TOKEN, ROTATE_API_TOKEN } from '../writes.ts';
import type { Session } from './client/session.ts';
import type { CommandExecutor, QueryBatchExecutor } from './executor.ts';
import { typedParameters } from './sent-rows.ts';
import { lockWorkspaces } from './workspace.ts';

const CONFIG_VERSION = `coalesce((select config_version from environments
      where environments.workspace_id = api_tokens.workspace_id
        and environments.environment = api_tokens.environment), 0)`;

export const FIND = statement('find_api_tokens')`
  select ${API_TOKEN.names}, ${CONFIG_VERSION} from api_tokens where digest = any ($1::text[])`;

export const FIND_PREVIOUS = statement('find_rotated_api_tokens')`
  select ${API_TOKEN.names}, ${CONFIG_VERSION} from api_tokens where previous_digest = any ($1::text[])`;

export const CREATE = statement('create_api_token')`
  insert into api_tokens (${API_TOKEN.names})
  select ${typedParameters(API_TOKEN)}
  from workspaces where workspace_id = $2
  on conflict (digest) do nothing
  returning api_token_id`;

export const FIND_ID = statement('find_id_of_api_token')`
  select api_token_id from api_tokens where digest = $1`;

const UNREVOKED = `from api_tokens
      where workspace_id = $1 and environment = $2 and api_token_id <> $3 and revoked_at is null`;

// Reads no expired API token.
export const COUNT_ACTIVE = statement('count_active_api_tokens')`
  select (select count(*) ${UNREVOKED} and expires_at is null)
    + (select count(*) ${UNREVOKED} and expires_at > $4)`;

export const MARK_USED = statement('mark_api_tokens_used')`
  update api_tokens set last_used_at = $1
  where api_token_id = any ($2::bigint[]) and (last_used_at is null or last_used_at < $1)`;

/** Looks up each distinct API token once: a batch has few. */
export const findApiTokens: QueryBatchExecutor<'findApiToken'> = async (session, queries) => {
  const digests = [...new Set(queries.map(({ digest }) => digest))];
  const found = new Map<TokenDigest, FoundApiToken>();
  for (const row of await session.query(FIND, [digests])) {
    const apiToken = toFound(row);
    found.set(apiToken.digest, apiToken);
  }
  // In this order: between the two statements a current text may become a replaced one, but not vice versa.
  const rest = digests.filter((digest) => !found.has(digest));
  const replaced = rest.length === 0 ? [] : await session.query(FIND_PREVIOUS, [rest]);
  for (const row of replaced) {
    const apiToken = toFound(row);
    found.set(apiToken.previousDigest!, apiToken);
  }
  return queries.map(({ digest }) => found.get(digest) ?? null);
};

function toFound(row: readonly unknown[]): FoundApiToken {
  return { ...API_TOKEN.read(row), configVersion: row.at(-1) as number };
}

/** Runs in a transaction. */
export const createApiToken: CommandExecutor<'createApiToken'> = async (session, command, { recordings }) => {
  const { apiTokenId, workspaceId, digest, limit, event } = command;
  if (limit !== undefined && (await countActive(session, command)) >= limit) return 'limit_reached';
  const [found, inserted, [row]] = await Promise.all([
    lockWorkspaces(session, [workspaceId]),
    session.query(CREATE, API_TOKEN.cells(command)),
    session.query(FIND_ID, [digest]),
  ]);
  if (found.size === 0) return 'workspace_not_found';
  // The id is unique to this command: a repeated attempt finds the row of an earlier one.
  if (row?.[0] !== apiTokenId) return 'digest_taken';
  // Otherwise an earlier attempt has recorded it.
  if (inserted.length > 0) recordings.push({ event, changes: new Changes(null, apiTokenFields(command)) });
  return 'created';
};

/**
 * Counts the active API tokens besides this one, which an earlier attempt may have created. Locks the
 * workspace until the end of the transaction, so that concurrent creations do not exceed a limit together.
 */
async function countActive(
  session: Session,
  { apiTokenId, workspaceId, environment, createdAt }: ApiToken,
): Promise<number> {
  const values = [workspaceId, environment, apiTokenId, createdAt];
  const [, [row]] = await Promise.all([
    lockWorkspaces(session, [workspaceId]),
    session.query(COUNT_ACTIVE, values),
  ]);
  return row![0] as number;
}

/** Runs in a transaction. */
export const revokeApiToken: CommandExecutor<'revokeApiToken'> = async (
  session,
  { apiTokenId, now, event },
  { recordings },
) => {
  const isRevoked = (await session.query(REVOKE_API_TOKEN, [now, apiTokenId])).length === 1;
  if (isRevoked) recordings.push({ event });
  return isRevoked || session.read(apiTokenExists(apiTokenId));
};

/** Runs in a transaction. */
export const rotateApiToken: CommandExecutor<'rotateApiToken'> = async (
  session,
  { apiTokenId, currentDigest, digest, previousExpiresAt, event },
  { recordings },
) => {
  const rows = await session.query(ROTATE_API_TOKEN, [digest, previousExpiresAt, apiTokenId, currentDigest]);
  const isRotated = rows.length === 1;
  if (isRotated) recordings.push({ event });
  return isRotated;
};

export const markApiTokensUsed: CommandExecutor<'markApiTokensUsed'> = async (
  session,
  { apiTokenIds, at },
) => {
  await session.query(MARK_USED, [at, apiTokenIds.toSorted((a, b) => a - b)]);
  return null;
};
