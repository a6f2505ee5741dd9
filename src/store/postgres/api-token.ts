import type { FoundApiToken } from '../../domain/api-token.ts';
import type { TokenDigest } from '../../domain/token.ts';
import { FOUND_API_TOKEN } from '../entities.ts';
import { statement } from '../statement.ts';
import type { CommandExecutor, QueryBatchExecutor } from './executor.ts';

export const FIND = statement('find_api_tokens')`
  select ${FOUND_API_TOKEN.names} from api_tokens where digest = any ($1::text[])`;

export const FIND_PREVIOUS = statement('find_rotated_api_tokens')`
  select ${FOUND_API_TOKEN.names} from api_tokens where previous_digest = any ($1::text[])`;

export const MARK_USED = statement('mark_api_tokens_used')`
  update api_tokens set last_used_at = $1
  where api_token_id = any ($2::bigint[]) and (last_used_at is null or last_used_at < $1)`;

/** Looks up each distinct API token once: a batch has few. */
export const findApiTokens: QueryBatchExecutor<'findApiToken'> = async (session, queries) => {
  const digests = [...new Set(queries.map(({ digest }) => digest))];
  const found = new Map<TokenDigest, FoundApiToken>();
  for (const apiToken of FOUND_API_TOKEN.readAll(await session.query(FIND, [digests])))
    found.set(apiToken.digest, apiToken);
  // In this order: between the two statements a current text may become a replaced one, but not vice versa.
  const rest = digests.filter((digest) => !found.has(digest));
  const replaced = rest.length === 0 ? [] : await session.query(FIND_PREVIOUS, [rest]);
  for (const apiToken of FOUND_API_TOKEN.readAll(replaced)) found.set(apiToken.previousDigest!, apiToken);
  return queries.map(({ digest }) => found.get(digest) ?? null);
};

export const markApiTokensUsed: CommandExecutor<'markApiTokensUsed'> = async (
  session,
  { apiTokenIds, at },
) => {
  await session.query(MARK_USED, [at, apiTokenIds.toSorted((a, b) => a - b)]);
};
