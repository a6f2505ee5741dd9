// How to reach PostgreSQL, and the bounds on everything that is asked of it.

import type { ClientConfig } from 'pg';
import type { Secret } from '../../domain/secret.ts';
import type { StoreObserver } from '../store.ts';
import { NUMBER_TYPES } from './exchange.ts';

export interface PostgresOptions {
  url: Secret;
  poolSize: number;
  connectTimeoutMs: number;
  /** After how long a statement is given up. */
  statementTimeoutMs: number;
  /** Whether settings of the session are sent with a new connection, which some poolers refuse. */
  sessionSettings: boolean;
  /** Whether statements are prepared by name, which PgBouncer before 1.21 does not know. */
  preparedStatements: boolean;
  observer?: StoreObserver;
  /** Ends what is done before the database can be served. */
  signal?: AbortSignal;
}

export const DEFAULT_STATEMENT_TIMEOUT_MS = 2_000;
/** What the way to the server and back may add to the time of the statement. */
const ROUND_TRIP_MS = 500;

export function clientConfig(
  options: PostgresOptions,
  isCitus: boolean,
): ClientConfig & { query_timeout: number } {
  const { url, connectTimeoutMs, statementTimeoutMs, sessionSettings } = options;
  return {
    connectionString: withOptions(url.reveal(), sessionSettings ? plannerOf(isCitus) : []),
    application_name: 'user-group-service',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server gives up first, so that it does not work on for nobody.
    query_timeout: statementTimeoutMs + ROUND_TRIP_MS,
    ...(sessionSettings && limitsOf(statementTimeoutMs)),
    types: { getTypeParser: (typeId: number) => (NUMBER_TYPES.includes(typeId) ? Number : String) },
  };
}

// Left to itself, PostgreSQL plans a batch of up to ten keys anew each time: its guess for a plan that fits all
// batches is ten. That takes longer than the look-up (a batch of one: 300 microseconds in place of 120). Citus has to
// see the buckets of a batch to know its shards, and makes no plan without them.
const ONE_PLAN = 'plan_cache_mode=force_generic_plan';

const KEY_ORDER = [
  // With these, a batch goes through an index in its own order, at every size of the table. A plan that reads a
  // small table whole locks rows in the order in which they lie there, and two processes that update the same
  // groups deadlock (one batch in 40, a second each).
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
];

/** Without these options look-ups are slower, and a small table may make deadlocks, which are tried again. */
function plannerOf(isCitus: boolean): string[] {
  return (isCitus ? KEY_ORDER : [ONE_PLAN, ...KEY_ORDER]).map((setting) => `-c ${setting}`);
}

const LONE_PERCENT = /%(?![0-9a-f]{2})/gi;

/**
 * With the operator's own options first, since of two that differ the later one counts. In `pg` those of the URL would
 * take the place of all others, and of one that is not encoded as a URL is, it encodes anew what is encoded.
 */
function withOptions(databaseUrl: string, options: readonly string[]): string {
  const url = new URL(databaseUrl.replace(LONE_PERCENT, '%25'));
  const own = url.searchParams.getAll('options').join(' ') || (process.env.PGOPTIONS ?? '');
  url.searchParams.set('options', [own, ...options].join(' ').trim());
  return url.href;
}

function limitsOf(statementTimeoutMs: number): Omit<ClientConfig, 'query_timeout'> {
  return {
    statement_timeout: statementTimeoutMs,
    // Longer than the second after which PostgreSQL looks for a deadlock, which is worth another try.
    lock_timeout: Math.ceil(statementTimeoutMs * 0.75),
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
  };
}
