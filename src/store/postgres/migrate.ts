// Migrations on PostgreSQL. Twenty processes that start at once run each of them once: all but one wait at the
// row with its number.

import pg from 'pg';
import { type Migration, pendingMigrations } from '../migration.ts';
import { failureOfConnecting, failureOfStatement } from './failure.ts';
import { clientConfig, type PostgresOptions } from './options.ts';

const FOLDER = new URL('./migrations/', import.meta.url);
const OLDEST_SERVER = 14;
const UNDEFINED_TABLE = '42P01';
/** Two that create a table at one moment: "if not exists" does not keep them apart. */
const CREATED_BY_ANOTHER = ['23505', '42P07'];

/** The server is older than the service knows how to use. */
export class ServerTooOld extends Error {
  override readonly name = 'ServerTooOld';
}

/**
 * Brings the database to the newest schema; returns the names of the migrations that ran. Throws `ServerTooOld`,
 * `SchemaTooNew` and `StoreUnavailable`.
 */
export async function migrate(options: PostgresOptions): Promise<string[]> {
  // A migration may take long, and so may waiting for the process that runs it.
  const client = new pg.Client({ ...clientConfig({ ...options, statementTimeoutMs: 0 }), query_timeout: 0 });
  // The statement that runs is told; without a listener the process would end.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw failureOfConnecting(error);
  }
  try {
    const query = async (sql: string, values?: unknown[]): Promise<unknown[][]> => {
      // Without values a text may hold several statements.
      const config = { text: sql, rowMode: 'array' as const, ...(values && { values }) };
      try {
        return (await client.query<unknown[]>(config)).rows;
      } catch (error) {
        throw failureOfStatement(error);
      }
    };
    await checkVersion(query);
    return await applyPending(query);
  } finally {
    // A transaction that is open is rolled back by it.
    await client.end();
  }
}

type RunSql = (sql: string, values?: unknown[]) => Promise<unknown[][]>;

async function checkVersion(query: RunSql): Promise<void> {
  const [row] = await query('show server_version');
  const version = row?.[0] as string;
  if (Number.parseInt(version, 10) < OLDEST_SERVER) {
    throw new ServerTooOld(`PostgreSQL ${version} is too old: version ${OLDEST_SERVER} or later is needed`);
  }
}

async function applyPending(query: RunSql): Promise<string[]> {
  const applied: string[] = [];
  for (const migration of pendingMigrations(FOLDER, await newestApplied(query))) {
    if (await apply(query, migration)) applied.push(migration.name);
  }
  return applied;
}

/** The number of the newest migration that was applied, 0 where none was. */
async function newestApplied(query: RunSql): Promise<number> {
  try {
    const [row] = await query('select coalesce(max(number), 0) from schema_migrations');
    return row?.[0] as number;
  } catch (error) {
    // Asked first and created then: a server may let the service use its tables and create none.
    if (codeOf(error) !== UNDEFINED_TABLE) throw error;
    await createTable(query);
    return newestApplied(query);
  }
}

async function createTable(query: RunSql): Promise<void> {
  try {
    await query(`create table if not exists schema_migrations (
      number integer not null primary key, name text not null, applied_at bigint not null)`);
  } catch (error) {
    if (!CREATED_BY_ANOTHER.includes(codeOf(error))) throw error;
  }
}

async function apply(query: RunSql, { number, name, sql }: Migration): Promise<boolean> {
  await query('begin');
  const inserted = await query(
    `insert into schema_migrations (number, name, applied_at) values ($1, $2, $3)
      on conflict (number) do nothing returning number`,
    [number, name, Date.now()],
  );
  if (inserted.length === 1) await query(sql);
  await query('commit');
  return inserted.length === 1;
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? '';
}
