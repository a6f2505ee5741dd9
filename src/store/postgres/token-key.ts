import { statement } from '../statement.ts';
import { ADD_TOKEN_KEY } from '../writes.ts';
import type { CommandExecutor } from './executor.ts';

export const LIST_IN_USE = statement('list_token_keys_in_use')`select distinct token_key_id from user_groups`;

export const LIST_IN_USE_BY_DOCUMENTS = statement('list_document_keys_in_use')`
  select distinct secret_key_id from documents where secret_key_id is not null`;

// Two statements: Citus cannot read a distributed table while it modifies a reference table.
export const KEEP = statement('keep_token_keys')`delete from token_keys where key_id <> all ($1::text[])`;

export const addTokenKeyId: CommandExecutor<'addTokenKeyId'> = async (session, { keyId, now }) => {
  await session.query(ADD_TOKEN_KEY, [keyId, now]);
  return null;
};

export const removeTokenKeyIds: CommandExecutor<'removeTokenKeyIds'> = async (session, { keep }) => {
  const ofTokens = await session.query(LIST_IN_USE);
  const ofDocuments = await session.query(LIST_IN_USE_BY_DOCUMENTS);
  const inUse = [...ofTokens, ...ofDocuments].map(([keyId]) => keyId as string);
  await session.query(KEEP, [[keep, ...inUse]]);
  return null;
};
