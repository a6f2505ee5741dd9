import { FOUND_API_TOKEN } from '../entities.ts';
import type { CommandExecutor, QueryExecutor } from './executor.ts';

const FIND = `select ${FOUND_API_TOKEN.names} from api_tokens where digest = ?`;
const FIND_PREVIOUS = `select ${FOUND_API_TOKEN.names} from api_tokens where previous_digest = ?`;
const MARK_USED = `update api_tokens set last_used_at = ?1
  where api_token_id = ?2 and (last_used_at is null or last_used_at < ?1)`;

export const findApiToken: QueryExecutor<'findApiToken'> = (connection, { digest }) =>
  FOUND_API_TOKEN.readOrNull(connection.get(FIND, [digest]) ?? connection.get(FIND_PREVIOUS, [digest]));

export const markApiTokensUsed: CommandExecutor<'markApiTokensUsed'> = (connection, { apiTokenIds, at }) => {
  for (const apiTokenId of apiTokenIds) connection.run(MARK_USED, [at, apiTokenId]);
};
