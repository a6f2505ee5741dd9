// Direct access to a test database, without the service.

import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { TestDatabase } from './database.ts';
import { eventually } from './process.ts';

export class SqlConnection extends pg.Client implements AsyncDisposable {
  static async open(url: string): Promise<SqlConnection> {
    const connection = new SqlConnection(url);
    await connection.connect();
    return connection;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

/** Runs one statement and returns the rows. */
export async function runSql(
  { url }: Pick<TestDatabase, 'url'>,
  sql: string,
): Promise<Record<string, unknown>[]> {
  if (url.startsWith('sqlite:')) {
    using database = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 });
    return database.prepare(sql).all();
  }
  await using client = await SqlConnection.open(url);
  return (await client.query(sql)).rows;
}

/** Runs several statements. */
export async function executeSql({ url }: Pick<TestDatabase, 'url'>, sql: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    using database = new DatabaseSync(url.slice('sqlite:'.length));
    database.exec(sql);
    return;
  }
  await using client = await SqlConnection.open(url);
  await client.query(sql);
}

/**
 * Waits until the feed shows all that is committed: on PostgreSQL, it is behind the transactions that began earlier, even those
 * of other databases.
 */
export async function feedIsComplete(database: Pick<TestDatabase, 'url'>): Promise<void> {
  if (database.url.startsWith('sqlite:')) return;
  const [snapshot] = await runSql(database, 'select pg_snapshot_xmax(pg_current_snapshot())::text as next');
  const ended = `select pg_snapshot_xmin(pg_current_snapshot()) >= '${snapshot!.next}'::xid8 as ended`;
  await eventually('the end of earlier transactions', async () => {
    const [row] = await runSql(database, ended);
    return row!.ended === true;
  });
}

/** Returns the names of the columns of each table. */
export async function columnsOf(database: Pick<TestDatabase, 'url'>): Promise<Map<string, string[]>> {
  const rows = await runSql(database, database.url.startsWith('sqlite:') ? SQLITE_COLUMNS : POSTGRES_COLUMNS);
  const tables = Map.groupBy(rows, ({ table }) => String(table));
  return new Map(Array.from(tables, ([table, columns]) => [table, columns.map(({ name }) => String(name))]));
}

const SQLITE_COLUMNS = `
  select tables.name as "table", columns.name as name
  from sqlite_schema as tables, pragma_table_info(tables.name) as columns
  where tables.type = 'table' order by tables.name, cid`;

const POSTGRES_COLUMNS = `
  select table_name as "table", column_name as name from information_schema.columns
  where table_schema = 'public' order by table_name, ordinal_position`;
