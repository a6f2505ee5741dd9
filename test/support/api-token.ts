// Creates API tokens for tests that need many of them.

import type { TestDatabase } from './database.ts';
import { runSql } from './sql.ts';

/** Adds copies of the API token, with texts that nobody knows. */
export async function copyApiToken(database: TestDatabase, id: number, copies: number): Promise<void> {
  await runSql(
    database,
    `with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < ${copies})
     insert into api_tokens (api_token_id, workspace_id, environment, permission, name, digest, created_at)
     select (select max(api_token_id) from api_tokens) + number, workspace_id, environment, permission, name, digest || number, created_at
     from api_tokens cross join numbers where api_token_id = ${id}`,
  );
  await runSql(
    database,
    `update id_blocks set next = (select max(api_token_id) + 1 from api_tokens) where sequence = 'api_token_id'`,
  );
}
