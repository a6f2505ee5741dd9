// Connection options for PostgreSQL: URL, timeouts and session settings.

import type { ClientConfig } from 'pg';
import type { EventQuotaOptions } from '../../../domain/event/quota.ts';
import type { Secret } from '../../../domain/secret.ts';
import type { MigrationObserver } from '../../migration.ts';
import type { StoreObserver } from '../../port.ts';
import type { ConnectionConfig } from './connection.ts';
import { Hosts } from './hosts.ts';
import { NUMBER_TYPES } from './pipeline.ts';

/** Facts about the servers that all pools of the process share. */
export interface ServerFacts {
  isCitus: boolean;
  /** Index of the URL that is tried first: that of the primary. */
  firstHost: number;
  /** From `lastPrimaryMemory`. */
  lastPrimary: SharedArrayBuffer;
  /** Whether policies of row-level security applied to the user when the process started. */
  hasPolicies: boolean;
}

export interface PostgresOptions extends Partial<ServerFacts> {
  /** The URL of each host of the database. */
  urls: readonly Secret[];
  poolSize: number;
  connectTimeoutMs: number;
  statementTimeoutMs: number;
  /** Whether session settings are sent with a new connection, which some poolers reject. */
  sessionSettings: boolean;
  /** Whether statements are prepared by name, which PgBouncer before 1.21 does not support. */
  preparedStatements: boolean;
  observer?: StoreObserver;
  eventQuota?: EventQuotaOptions;
  migrationObserver?: MigrationObserver;
  /** Aborts the start-up. */
  signal?: AbortSignal;
}

/**
 * Maximum of `scram_iterations`, 0.2 s of processor time per connection. The default of `pg`, 100 000, is less than
 * security policies ask for.
 */
const MAX_SCRAM_ITERATIONS = 1_000_000;

/** Allowance for the network on top of the statement timeout. */
const ROUND_TRIP_MS = 500;

export function clientConfig(options: PostgresOptions): ConnectionConfig & { query_timeout: number } {
  const { urls, firstHost, lastPrimary, connectTimeoutMs, statementTimeoutMs, sessionSettings } = options;
  const settings = sessionSettings ? servingSettings(options) : {};
  return {
    hosts: new Hosts(
      urls.map((url) => withOptions(url.reveal(), settings)),
      firstHost,
      lastPrimary,
    ),
    application_name: 'user-group-service',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    scramMaxIterations: MAX_SCRAM_ITERATIONS,
    // The server times out first, so that it does not go on working for nothing.
    query_timeout: statementTimeoutMs + ROUND_TRIP_MS,
    ...(sessionSettings && timeLimits(statementTimeoutMs)),
    types: { getTypeParser: (typeId: number) => (NUMBER_TYPES.includes(typeId) ? Number : String) },
  };
}

/** Settings of a serving session by name. */
type Settings = Readonly<Record<string, string>>;

// PostgreSQL replans each batch of up to ten keys by default, because it estimates ten for the generic plan. Planning
// takes longer than the lookup (a batch of one: 300 instead of 120 microseconds). Citus needs the actual buckets to
// choose shards, so it has no generic plan.
const GENERIC_PLAN: Settings = { plan_cache_mode: 'force_generic_plan' };

const COMMON_SETTINGS: Settings = {
  // With these, a batch uses an index in its own key order at every table size. A sequential scan of a small table
  // locks rows in physical order, so two processes that update the same groups deadlock (one batch in 40, for a
  // second each).
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Before PostgreSQL 18, an unavoidable sequential scan has such a high cost that the statement is compiled
  // each time, which takes a third of a second.
  jit: 'off',
};

// Row-level security that is enabled while the process runs makes statements fail, instead of hiding rows: otherwise
// every token would be unknown.
const SHOW_ALL_ROWS: Settings = { row_security: 'off' };

/** Without these settings lookups are slower, small tables may cause deadlocks, which are retried, and rows may be hidden. */
export function servingSettings({
  isCitus = false,
  hasPolicies = false,
}: Pick<PostgresOptions, 'isCitus' | 'hasPolicies'>): Settings {
  return {
    ...(isCitus ? {} : GENERIC_PLAN),
    ...COMMON_SETTINGS,
    ...(hasPolicies ? {} : SHOW_ALL_ROWS),
  };
}

const LONE_PERCENT = /%(?![0-9a-f]{2})/gi;

/**
 * Appends our options to the operator's, so that ours win. `pg` would let the URL's options replace all
 * others, and would encode an incorrectly encoded URL twice.
 */
function withOptions(databaseUrl: string, settings: Settings): string {
  const url = new URL(databaseUrl.replace(LONE_PERCENT, '%25'));
  const own = url.searchParams.getAll('options').join(' ') || (process.env.PGOPTIONS ?? '');
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  url.searchParams.set('options', [own, ...ours].join(' ').trim());
  // Redundant: every connection refuses a standby.
  url.searchParams.delete('target_session_attrs');
  return url.href;
}

function timeLimits(statementTimeoutMs: number): Omit<ClientConfig, 'query_timeout'> {
  return {
    statement_timeout: statementTimeoutMs,
    // Longer than deadlock_timeout (one second): a detected deadlock is retried, a lock timeout is not.
    lock_timeout: Math.ceil(statementTimeoutMs * 0.75),
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
  };
}
