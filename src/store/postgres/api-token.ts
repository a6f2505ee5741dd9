import type { FoundApiToken } from '../../domain/api-token.ts';
import type { TokenDigest } from '../../domain/token.ts';
import { FOUND_API_TOKEN } from '../entities.ts';
import { statement } from '../statement.ts';
import type { QueryBatchExecutor } from './executor.ts';

export const FIND = statement('find_api_tokens')`
  select ${FOUND_API_TOKEN.names} from api_tokens where digest = any ($1::text[])`;

export const FIND_PREVIOUS = statement('find_rotated_api_tokens')`
  select ${FOUND_API_TOKEN.names} from api_tokens where previous_digest = any ($1::text[])`;

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
