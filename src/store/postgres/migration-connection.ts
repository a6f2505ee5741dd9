// The connection that looks at the database before it is served, and migrates it: one of its own, since to change a
// schema may take longer than anything that requests want.

import type pg from 'pg';
import { Connection } from './connection.ts';
import { failureOfConnecting, failureOfStatement } from './failure.ts';
import { clientConfig, DEFAULT_STATEMENT_TIMEOUT_MS, type PostgresOptions } from './options.ts';

/** Runs SQL, several statements where there are no values; gives rows as arrays. Throws `Failure`. */
type RunSql = (sql: string, values?: unknown[]) => Promise<unknown[][]>;

export interface MigrationSession {
  /** A statement that must be quick: a server that has fallen silent is found out. */
  ask: RunSql;
  /** As long as it takes, which is also how long another process does the same. */
  change: RunSql;
}

/**
 * Runs `work`. A transaction that it leaves open is rolled back; so is what it does when the signal comes. Throws
 * `Failure`.
 */
export async function onMigrationConnection<Result>(
  options: PostgresOptions,
  work: (session: MigrationSession) => Promise<Result>,
): Promise<Result> {
  const limits = { statementTimeoutMs: DEFAULT_STATEMENT_TIMEOUT_MS, sessionSettings: false };
  const { query_timeout, ...config } = clientConfig({ ...options, ...limits }, false);
  const connection = new Connection(config);
  const onAbort = (): void => connection.abandon();
  options.signal?.addEventListener('abort', onAbort);
  try {
    await open(connection);
    return await work({
      ask: (sql, values) => send(connection, { text: sql, values, query_timeout }),
      change: (sql, values) => send(connection, { text: sql, values }),
    });
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
    // The server may never answer the farewell, and nobody is to wait for it.
    connection.end().catch(() => {});
    connection.unref();
  }
}

async function open(connection: Connection): Promise<void> {
  try {
    await connection.connect();
    await connection.refuseStandby();
  } catch (error) {
    throw failureOfConnecting(error);
  }
}

interface Query {
  text: string;
  values: unknown[] | undefined;
  query_timeout?: number;
}

async function send(connection: Connection, query: Query): Promise<unknown[][]> {
  try {
    return (await connection.query<unknown[]>({ ...query, rowMode: 'array' } as pg.QueryArrayConfig)).rows;
  } catch (error) {
    throw failureOfStatement(error, true);
  }
}
