// How to reach PostgreSQL, and the bounds on everything that is asked of it.

import type { ClientConfig } from 'pg';
import type { Secret } from '../../domain/secret.ts';

export interface PostgresOptions {
  url: Secret;
  poolSize: number;
  connectTimeoutMs: number;
  /** 0 leaves it to the server: not every pooler takes the parameter. */
  statementTimeoutMs: number;
  /** Whether statements are prepared by name, which PgBouncer before 1.21 does not know. */
  preparedStatements: boolean;
}

const DEFAULT_STATEMENT_TIMEOUT_MS = 2_000;
/** What the way to the server and back may add to the time of the statement. */
const ROUND_TRIP_MS = 500;

/** By type: int4 and int8 (ours are below 2^53, and `pg` gives int8 as text). Everything else we read is text. */
const PARSERS = new Map<number, (text: string) => unknown>([
  [23, Number],
  [20, Number],
]);

export function clientConfig(options: PostgresOptions): ClientConfig {
  const { url, connectTimeoutMs, statementTimeoutMs } = options;
  return {
    connectionString: url.reveal(),
    application_name: 'user-group-service',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server gives up first, so that it does not work on for nobody.
    query_timeout: (statementTimeoutMs || DEFAULT_STATEMENT_TIMEOUT_MS) + ROUND_TRIP_MS,
    ...(statementTimeoutMs > 0 && {
      statement_timeout: statementTimeoutMs,
      lock_timeout: Math.ceil(statementTimeoutMs / 2),
      idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
    }),
    types: { getTypeParser: (oid: number) => PARSERS.get(oid) ?? String },
  };
}
