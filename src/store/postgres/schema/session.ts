// The connection that checks and migrates the database at start-up. It is separate from the pool because a schema
// change may take longer than any request.

import type pg from 'pg';
import { Connection, type ConnectionConfig } from '../client/connection.ts';
import { connectError, statementError } from '../client/errors.ts';
import { clientConfig, type PostgresOptions } from '../client/options.ts';
import { DEFAULT_STATEMENT_TIMEOUT_MS } from '../client/statement-timeout.ts';

/** Runs SQL, several statements if there are no values. Rows are arrays. Throws `TransientError`. */
type RunSql = (sql: string, values?: unknown[]) => Promise<unknown[][]>;

export interface SchemaSession {
  /** For fast statements, with a timeout that detects an unresponsive server: at least that of connecting. */
  ask: RunSql;
  /** Without a timeout: it may wait while another process migrates. */
  change: RunSql;
  /** Index of the host that the session is open to. */
  host: number;
}

type Work<Result> = (session: SchemaSession) => Promise<Result>;

/**
 * Runs `work`. A transaction that is still open at the end, or when the signal aborts, is rolled back. Throws
 * `TransientError`.
 */
export function withSchemaSession<Result>(options: PostgresOptions, work: Work<Result>): Promise<Result> {
  const statementTimeoutMs = Math.max(DEFAULT_STATEMENT_TIMEOUT_MS, options.connectTimeoutMs);
  return withServingSession({ ...options, statementTimeoutMs, sessionSettings: false }, work);
}

/** Runs `work` with the settings of a serving process, which a pooler may reject or ignore. Throws `TransientError`. */
export async function withServingSession<Result>(
  options: PostgresOptions,
  work: Work<Result>,
): Promise<Result> {
  const { query_timeout, ...config } = clientConfig(options);
  const { signal } = options;
  await findNewestPrimary(config, query_timeout, signal);
  const open = () => openPrimary(config, query_timeout, signal);
  using opened = await config.hosts.tryEach(open).catch((error) => {
    throw connectError(error);
  });
  const { connection } = opened;
  return await work({
    ask: (sql, values) => send(connection, { text: sql, values, query_timeout }),
    change: (sql, values) => send(connection, { text: sql, values }),
    host: config.hosts.current,
  });
}

/**
 * Visits every host, so that a former primary is refused although it is listed before its successor. Skips hosts that
 * fail. Throws promptly when the signal aborts.
 */
async function findNewestPrimary(
  config: ConnectionConfig,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { separate } = config.hosts;
  const visits = separate.map(async (hosts) => {
    using _visited = await openPrimary({ ...config, hosts }, timeoutMs, signal);
  });
  const results = await Promise.allSettled(visits);
  signal?.throwIfAborted();
  for (const [index, { status }] of results.entries())
    if (status === 'rejected') config.hosts.skip(separate[index]!.url);
}

/** Opens a connection, which is abandoned when the signal aborts. */
async function openPrimary(
  config: ConnectionConfig,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<{ connection: Connection } & Disposable> {
  signal?.throwIfAborted();
  const connection = new Connection(config);
  const onAbort = (): void => connection.abandon();
  signal?.addEventListener('abort', onAbort);
  const close = (): void => {
    signal?.removeEventListener('abort', onAbort);
    // The server may never acknowledge the termination; do not wait for it.
    connection.end().catch(() => {});
    connection.unref();
  };
  try {
    await connection.connect();
    await connection.requirePrimary(timeoutMs);
    return { connection, [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
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
    throw statementError(error, true);
  }
}
