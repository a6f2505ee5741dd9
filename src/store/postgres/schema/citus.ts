// Distributes the tables when the Citus extension is installed: user groups by bucket, which leads all their keys;
// imported tokens by digest, so that one shard decides whether a token is taken; the small tables are reference
// tables. Errors of Citus are classified in client/errors.ts.

import { statement } from '../../statement.ts';
import { TABLES, type Table } from '../../tables.ts';
import { BEGIN_WITHOUT_LIMITS } from '../client/isolation.ts';
import type { SchemaSession } from './session.ts';

/** Distributes those of the tables that are not distributed yet; does nothing without Citus. */
export async function distributeTables(session: SchemaSession, tables: readonly Table[]): Promise<void> {
  if (!(await hasCitus(session))) return;
  const { change } = session;
  for (const table of tables) {
    if (await isDistributed(session, table)) continue;
    await change(BEGIN_WITHOUT_LIMITS);
    // If several processes start at the same time, one distributes; the others wait here and find it done.
    await change('lock table schema_migrations in exclusive mode');
    if (!(await isDistributed(session, table))) await change(distribute(table));
    await change('commit');
  }
}

function distribute(table: Table): string {
  const { distributedBy } = TABLES[table];
  if (distributedBy === null) return `select create_reference_table('${table}')`;
  const colocation = distributedBy === 'bucket' ? 'user_groups' : 'none';
  const beside = table === 'user_groups' ? '' : `, colocate_with => '${colocation}'`;
  return `select create_distributed_table('${table}', '${distributedBy}'${beside})`;
}

/**
 * The oldest transaction id that may still commit events on a worker. The coordinator ends a transaction before its
 * workers commit what they have prepared; its row in pg_dist_transaction, whose xmin is its id, stays until Citus has
 * checked that they did (citus.recover_2pc_interval). One statement: the rows must be those of the same snapshot.
 */
export const HORIZON = statement('event_horizon_on_citus')`
  select least(pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
    (select min(newest.id - ((newest.id - pending.xmin::text::bigint) & 4294967295))
      from pg_dist_transaction as pending,
        (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as id) as newest))`;

export async function hasCitus({ ask }: SchemaSession): Promise<boolean> {
  const installed = await ask("select 1 from pg_extension where extname = 'citus'");
  return installed.length === 1;
}

/**
 * Adds a condition on the buckets ($1), by which Citus prunes shards. Through the join with the parameters it
 * cannot, and would query all shards (18 ms per lookup instead of 0.8). Not for plain PostgreSQL, which would
 * read all rows of a bucket.
 */
export function nameShards(sql: string): string {
  return sql
    .replace(
      /(join user_groups using \([^)]*\))(\s+where)?/,
      (_, join, where) => `${join} where user_groups.bucket = any ($1::integer[])${where ? ' and' : ''}`,
    )
    .replace(
      'where stored.bucket = sent.bucket',
      (condition) => `${condition} and stored.bucket = any ($1::integer[])`,
    );
}

async function isDistributed({ ask }: SchemaSession, table: string): Promise<boolean> {
  const rows = await ask('select 1 from pg_dist_partition where logicalrelid = $1::regclass', [table]);
  return rows.length === 1;
}
