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
