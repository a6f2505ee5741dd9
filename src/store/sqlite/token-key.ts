import { ADD_TOKEN_KEY } from '../writes.ts';
import type { CommandExecutor } from './executor.ts';

const KEEP = `delete from token_keys where key_id <> ?
  and not exists (select 1 from user_groups where user_groups.token_key_id = token_keys.key_id)
  and not exists (select 1 from documents where documents.secret_key_id = token_keys.key_id)`;

export const addTokenKeyId: CommandExecutor<'addTokenKeyId'> = (connection, { keyId, now }) => {
  connection.query(ADD_TOKEN_KEY, [keyId, now]);
  return null;
};

export const removeTokenKeyIds: CommandExecutor<'removeTokenKeyIds'> = (connection, { keep }) => {
  connection.run(KEEP, [keep]);
  return null;
};
