import { FOUND_API_TOKEN } from '../entities.ts';
import type { QueryExecutor } from './executor.ts';

const FIND = `select ${FOUND_API_TOKEN.names} from api_tokens where digest = ?`;
const FIND_PREVIOUS = `select ${FOUND_API_TOKEN.names} from api_tokens where previous_digest = ?`;

export const findApiToken: QueryExecutor<'findApiToken'> = (connection, { digest }) =>
  FOUND_API_TOKEN.readOrNull(connection.get(FIND, [digest]) ?? connection.get(FIND_PREVIOUS, [digest]));
