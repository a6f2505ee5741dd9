// Direct access to a test database, without the service.

import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { TestDatabase } from './database.ts';

/** Runs one statement and returns the rows. */
export async function runSql(
  { url }: Pick<TestDatabase, 'url'>,
  sql: string,
): Promise<Record<string, unknown>[]> {
  if (url.startsWith('sqlite:')) {
    const database = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  }
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Runs several statements. */
export async function executeSql({ url }: Pick<TestDatabase, 'url'>, sql: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    using database = new DatabaseSync(url.slice('sqlite:'.length));
    database.exec(sql);
    return;
  }
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The names of the columns of each table. */
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
