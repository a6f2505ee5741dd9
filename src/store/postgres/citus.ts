// Where the Citus extension is installed, the tables are spread over its nodes: user groups by their bucket, which
// leads every key of theirs; imported tokens, of which there may be as many, by their digest, so that one shard knows
// whether a token is taken; the small tables are copied to every node. Its errors, failure.ts knows.

import { BEGIN_WITHOUT_LIMITS } from './begin.ts';
import type { MigrationSession } from './migration-connection.ts';

const DISTRIBUTE: Record<string, string> = {
  workspaces: "select create_reference_table('workspaces')",
  api_tokens: "select create_reference_table('api_tokens')",
  token_keys: "select create_reference_table('token_keys')",
  id_blocks: "select create_reference_table('id_blocks')",
  id_leases: "select create_reference_table('id_leases')",
  user_groups: "select create_distributed_table('user_groups', 'bucket')",
  imported_tokens:
    "select create_distributed_table('imported_tokens', 'token_digest', colocate_with => 'none')",
};

/** Distributes what is not yet; does nothing on a PostgreSQL without Citus. */
export async function distributeTables(session: MigrationSession): Promise<void> {
  if (!(await hasCitus(session))) return;
  const { change } = session;
  for (const [table, sql] of Object.entries(DISTRIBUTE)) {
    if (await isDistributed(session, table)) continue;
    await change(BEGIN_WITHOUT_LIMITS);
    // Of processes that start together, one distributes; the others wait here and find it done.
    await change('lock table schema_migrations in exclusive mode');
    if (!(await isDistributed(session, table))) await change(sql);
    await change('commit');
  }
}

export async function hasCitus({ ask }: MigrationSession): Promise<boolean> {
  const installed = await ask("select 1 from pg_extension where extname = 'citus'");
  return installed.length === 1;
}

/**
 * The statement with the shards of its batch named: Citus does not see them through the join with what was sent, and
 * asks all shards (18 ms for a look-up in place of 0.8). The buckets are the first that is sent. Not for a plain
 * PostgreSQL, which reads all rows of a bucket for it.
 */
export function nameShards(sql: string): string {
  return sql
    .replace(
      /join user_groups using \([^)]*\)/,
      (join) => `${join} where user_groups.bucket = any ($1::integer[])`,
    )
    .replace(
      'where stored.bucket = sent.bucket',
      (condition) => `${condition} and stored.bucket = any ($1::integer[])`,
    );
}

async function isDistributed({ ask }: MigrationSession, table: string): Promise<boolean> {
  const rows = await ask('select 1 from pg_dist_partition where logicalrelid = $1::regclass', [table]);
  return rows.length === 1;
}
