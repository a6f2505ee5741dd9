// The connection that migrates: one of its own, without the limits on time that requests have.

import pg from 'pg';
import { failureOfConnecting, failureOfStatement } from './failure.ts';
import { clientConfig, type PostgresOptions } from './options.ts';

/** Runs SQL, several statements where there are no values; gives rows as arrays. Throws `Failure`. */
export type RunSql = (sql: string, values?: unknown[]) => Promise<unknown[][]>;

/** Runs `work`. A transaction that it leaves open is rolled back. Throws `Failure`. */
export async function onMigrationConnection<Result>(
  options: PostgresOptions,
  work: (run: RunSql) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    ...clientConfig({ ...options, statementTimeoutMs: 0 }, false),
    query_timeout: 0,
  });
  // Whoever runs a statement is told; without a listener the process would end.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw failureOfConnecting(error);
  }
  try {
    return await work(async (sql, values) => {
      const query = { text: sql, rowMode: 'array' as const, ...(values && { values }) };
      try {
        return (await client.query<unknown[]>(query)).rows;
      } catch (error) {
        throw failureOfStatement(error);
      }
    });
  } finally {
    await client.end();
  }
}
