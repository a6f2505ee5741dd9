import type { CommandExecutor } from './executor.ts';
import type { Connection } from './file/connection.ts';

const LIST = 'select key_id from token_keys order by key_id';
const ADD = 'insert into token_keys (key_id, created_at) values (?, ?) on conflict (key_id) do nothing';
const KEEP = `delete from token_keys where key_id <> ?
  and not exists (select 1 from user_groups where user_groups.token_key_id = token_keys.key_id)
  and not exists (select 1 from documents where documents.secret_key_id = token_keys.key_id)`;

export function listTokenKeyIds(connection: Connection): string[] {
  return connection.all(LIST).map(([keyId]) => keyId as string);
}

export const addTokenKeyId: CommandExecutor<'addTokenKeyId'> = (connection, { keyId, now }) => {
  connection.run(ADD, [keyId, now]);
  return null;
};

export const removeTokenKeyIds: CommandExecutor<'removeTokenKeyIds'> = (connection, { keep }) => {
  connection.run(KEEP, [keep]);
  return null;
};
