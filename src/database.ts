// From the settings to an open store: the only place that knows which adapters there are.

import type { Config, DatabaseUrl } from './config.ts';
import { BatchedStore } from './store/batched-store.ts';
import { DEFAULT_STATEMENT_TIMEOUT_MS, type PostgresOptions } from './store/postgres/options.ts';
import { openPostgresStore } from './store/postgres/store.ts';
import { lockForServing } from './store/sqlite/lock.ts';
import { openCommandStore, openServingStore } from './store/sqlite/store.ts';
import type { Store, StoreObserver } from './store/store.ts';

export { SchemaTooNew } from './store/migration.ts';
export { ServerUnfit } from './store/postgres/migrate.ts';
export { backupFile } from './store/sqlite/backup.ts';
export { AlreadyServed } from './store/sqlite/lock.ts';

export const MAX_BATCH = 256;
/** A file is read on the thread that serves and written by one other: a second batch would only wait. */
const SQLITE_LIMITS = { maxBatch: MAX_BATCH, maxInFlight: 1, patienceMs: 0 };
/** One slow batch must not hold up the rest. */
const POSTGRES_LIMITS = { maxBatch: MAX_BATCH, maxInFlight: 2, patienceMs: 1 };
/** A command may count or change all groups. */
const COMMAND_STATEMENT_TIMEOUT_MS = 600_000;

export interface Database {
  store: BatchedStore;
  /** What the operator should know of it. */
  warnings: readonly string[];
  close(): Promise<void>;
}

export interface CommandDatabase extends Omit<Database, 'warnings'> {
  /** The migrations that ran when it was opened. */
  migrations: string[];
}

export interface ServingOptions {
  observer: StoreObserver;
  /** Ends what is done before the database can be served. */
  signal: AbortSignal;
}

/**
 * Opens the database for a process that serves. Throws `StoreUnavailable`, `AlreadyServed`, `SchemaTooNew` and
 * `ServerUnfit`.
 */
export async function openForServing(config: Config, options: ServingOptions): Promise<Database> {
  const { databaseUrl, queueLimit } = config;
  if (databaseUrl.engine === 'postgres') {
    const store = await openPostgresStore({ ...postgresOptions(config, databaseUrl), ...options });
    const { warnings } = store;
    return { store: batched(store, 'postgres', queueLimit), warnings, close: () => store.close() };
  }
  const lock = lockForServing(databaseUrl.path);
  try {
    const store = openServingStore(databaseUrl.path);
    const close = async () => {
      await store.close();
      lock.close();
    };
    return { store: batched(store, 'sqlite', queueLimit), warnings: [], close };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/**
 * Opens the database for a command that may run beside serving processes. Throws `StoreUnavailable`,
 * `SchemaTooNew` and `ServerUnfit`.
 */
export async function openForCommand(config: Config): Promise<CommandDatabase> {
  const { databaseUrl, queueLimit } = config;
  const store =
    databaseUrl.engine === 'postgres'
      ? await openPostgresStore({
          ...postgresOptions(config, databaseUrl),
          statementTimeoutMs: COMMAND_STATEMENT_TIMEOUT_MS,
        })
      : openCommandStore(databaseUrl.path);
  return {
    store: batched(store, databaseUrl.engine, queueLimit),
    migrations: store.migrations,
    close: () => store.close(),
  };
}

/**
 * Opens the database for a command that has to be alone with it. A file is refused while it is served; whether
 * PostgreSQL is, nobody can tell. Throws what `openForCommand` throws, and `AlreadyServed`.
 */
export async function openAlone(config: Config): Promise<CommandDatabase> {
  const { databaseUrl } = config;
  if (databaseUrl.engine === 'postgres') return openForCommand(config);
  const lock = lockForServing(databaseUrl.path);
  try {
    const database = await openForCommand(config);
    const close = async () => {
      await database.close();
      lock.close();
    };
    return { ...database, close };
  } catch (error) {
    lock.close();
    throw error;
  }
}

function batched(store: Store, engine: DatabaseUrl['engine'], maxQueued: number): BatchedStore {
  const limits = { ...(engine === 'postgres' ? POSTGRES_LIMITS : SQLITE_LIMITS), maxQueued };
  // A kind is a statement there, which locks rows in one order. Two transactions of several would lock them crosswise.
  return BatchedStore.of(store, { read: limits, write: { ...limits, isOfOneKind: engine === 'postgres' } });
}

function postgresOptions(
  config: Config,
  { url }: Extract<Config['databaseUrl'], { engine: 'postgres' }>,
): PostgresOptions {
  return {
    url,
    poolSize: config.postgresPoolSize,
    connectTimeoutMs: config.postgresConnectTimeoutMs,
    statementTimeoutMs: config.postgresStatementTimeoutMs || DEFAULT_STATEMENT_TIMEOUT_MS,
    sessionSettings: config.postgresStatementTimeoutMs > 0,
    preparedStatements: config.postgresPreparedStatements === 'on',
  };
}
