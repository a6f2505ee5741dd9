// Opens the store that the settings select. The only file that knows the database adapters.

import { type Config, type DatabaseUrl, urlsOfHosts } from './config.ts';
import type { EventQuotaOptions } from './domain/event/quota.ts';
import { Secret } from './domain/secret.ts';
import type { Tenant } from './domain/tenant.ts';
import { type BatchingOptions, BatchingStore } from './store/batching-store.ts';
import type { Inspection } from './store/inspection.ts';
import { BLOCKED, type MigrationObserver, type Migrations, WAITING } from './store/migration.ts';
import {
  type FileStorage,
  type MigratedStore,
  type Store,
  type StoreObserver,
  StoreUnavailable,
} from './store/port.ts';
import type { ConnectionCounts, PostgresOptions, ServerFacts } from './store/postgres/adapter.ts';
import { DEFAULT_STATEMENT_TIMEOUT_MS } from './store/postgres/client/statement-timeout.ts';
import type { ConnectWriter, WriterConnection } from './store/sqlite/adapter.ts';

export { SchemaTooNew } from './store/migration.ts';
export type { ConnectionCounts, ServerFacts, ServerUnfit } from './store/postgres/adapter.ts';
export type {
  AlreadyServed,
  BackupInvalid,
  BackupUnwritable,
  WriterConnection,
} from './store/sqlite/adapter.ts';

/**
 * Loads an adapter. A process needs only one of them, and loading one takes longer than running a short
 * command.
 */
export const loadSqlite = () => import('./store/sqlite/adapter.ts');
const loadPostgres = () => import('./store/postgres/adapter.ts');

const MEBIBYTE = 1_048_576;
export const MAX_BATCH = 256;
/** SQLite reads on the main thread and writes on a single worker thread: a second batch would only wait. */
const SQLITE_LIMITS = { maxBatch: MAX_BATCH, maxInFlight: 1, maxLingerMs: 0 };
/** Two batches in flight, so that a slow one does not block the others. */
const POSTGRES_LIMITS = { maxBatch: MAX_BATCH, maxInFlight: 2, maxLingerMs: 1 };
/**
 * A transaction takes longer than a lookup: with 1 ms, PostgreSQL completes a tenth fewer updates with their
 * events.
 */
const POSTGRES_WRITE_LINGER_MS = 2;
/** Each of several threads already has a batch in flight, so a second one pays off only later. */
const MAX_LINGER_OF_THREADS_MS = 4;
/** Commands may scan or change all groups. */
const COMMAND_STATEMENT_TIMEOUT_MS = 600_000;

export interface Database {
  store: BatchingStore;
  /** Migrations that this version knows. */
  migrations: Migrations;
  /** Findings about the database to log for the operator. */
  warnings: readonly string[];
  /** Counts of the connection pool, if there is one. */
  connections?: () => ConnectionCounts;
  /** Sizes of the database file and its disk, if the database is a file. */
  storage?: () => Promise<FileStorage>;
  /** Findings that the other threads need; null on SQLite. */
  server: ServerFacts | null;
  /** Connects another thread, so that it can write; on SQLite. Throws `StoreUnavailable`. */
  connectWriter?: () => WriterConnection;
  close(): Promise<void>;
}

/** Database as seen by a serving thread that did not open it. */
export type ThreadDatabase = Pick<Database, 'store' | 'migrations' | 'connections' | 'close'>;

export interface CommandDatabase extends Pick<Database, 'store' | 'close'>, AsyncDisposable {
  /** Names of the migrations that opening applied. */
  appliedMigrations: string[];
  /**
   * Warning that a newer version has migrated the database, which may have data that this version does not
   * know; null otherwise.
   */
  newerVersion: string | null;
}

interface ThreadOptions extends BatchingOptions {
  observer: StoreObserver;
  /** Called for each event whose values the quota of its environment reduces. */
  onReducedEvent: (tenant: Tenant) => void;
}

export interface ServingOptions extends ThreadOptions {
  migrationObserver: MigrationObserver;
  /**
   * Called when a checkpoint of SQLite could not sync a file: the process must end without closing the
   * database.
   */
  onFailedSync: (message: string) => void;
  /** Cancels the steps that precede serving, such as schema migrations. */
  signal: AbortSignal;
}

/**
 * Opens the database for a serving process. Throws `StoreUnavailable`, `AlreadyServed`, `SchemaTooNew` or
 * `ServerUnfit`.
 */
export async function openForServing(config: Config, options: ServingOptions): Promise<Database> {
  const { databaseUrl } = config;
  if (databaseUrl.engine === 'postgres') {
    const { openServingStore, migrations } = await loadPostgres();
    const store = await openServingStore(servingPostgresOptions(config, databaseUrl, options));
    const warnings = [...store.warnings, store.newerVersion ?? []].flat();
    const { server } = store;
    return { ...servedBy(store, config, options), migrations, warnings, server };
  }
  const { measureStorage, migrations, openServingStore } = await loadSqlite();
  return locked(databaseUrl.path, async () => {
    const eventQuota = eventQuotaOptions(config, options);
    const store = openServingStore(databaseUrl.path, { ...options, eventQuota });
    return {
      ...servedBy(store, config, options),
      migrations,
      warnings: [store.newerVersion ?? []].flat(),
      storage: () => measureStorage(databaseUrl.path),
      server: null,
      connectWriter: store.connectWriter,
    };
  });
}

/** Locks the file as long as the database is open. Throws `AlreadyServed` while a process serves the file. */
async function locked<Opened extends Pick<Database, 'close'>>(
  path: string,
  open: () => Promise<Opened>,
): Promise<Opened> {
  const { lockForServing } = await loadSqlite();
  const lock = lockForServing(path);
  try {
    const opened = await open();
    const close = async () => {
      await opened.close();
      lock.close();
    };
    return { ...opened, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/**
 * Opens the database in a further thread of the process that has opened it for serving. Throws
 * `StoreUnavailable`.
 */
export async function openForThread(
  config: Config,
  { server, connectWriter }: Pick<Database, 'server'> & { connectWriter: ConnectWriter },
  options: ThreadOptions,
): Promise<ThreadDatabase> {
  const { databaseUrl } = config;
  if (databaseUrl.engine === 'postgres') {
    const { migrations, openMigratedStore } = await loadPostgres();
    const migrated = openMigratedStore(servingPostgresOptions(config, databaseUrl, options), server!);
    const thread = { ...servedBy(migrated, config, options), migrations };
    await connectFirst(thread);
    return thread;
  }
  const { migrations, openThreadStore } = await loadSqlite();
  const store = openThreadStore(databaseUrl.path, connectWriter);
  return { ...servedBy(store, config, options), migrations };
}

/** Lets no request wait for the first connection. If it fails, the pool connects again with a later query. */
async function connectFirst({ store }: ThreadDatabase): Promise<void> {
  try {
    await store.read({ kind: 'ping' });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

function servedBy(
  store: Store & Pick<Database, 'connections'>,
  config: Config,
  options: ThreadOptions,
): Pick<Database, 'store' | 'connections' | 'close'> {
  const { connections } = store;
  return {
    store: batched(store, config, { ...options, threads: config.threads }),
    ...(connections && { connections }),
    close: () => store.close(),
  };
}

function eventQuotaOptions(
  { eventMebibytesPerDay }: Config,
  { onReducedEvent }: Pick<ThreadOptions, 'onReducedEvent'>,
): EventQuotaOptions {
  return { bytesPerDay: eventMebibytesPerDay * MEBIBYTE, onReduced: onReducedEvent };
}

function servingPostgresOptions(
  config: Config,
  databaseUrl: PostgresUrl,
  options: ThreadOptions & Partial<Pick<ServingOptions, 'migrationObserver' | 'signal'>>,
): PostgresOptions {
  const { threads } = config;
  const { poolSize, ...rest } = postgresOptions(config, databaseUrl);
  const { bytesPerDay, onReduced } = eventQuotaOptions(config, options);
  return {
    ...rest,
    ...options,
    // These limits apply to the process.
    poolSize: Math.floor(poolSize / threads),
    eventQuota: { bytesPerDay: bytesPerDay / threads, onReduced },
  };
}

/**
 * Opens the database for a command that may run alongside serving processes. Reports on standard error that a migration
 * waits. Throws `StoreUnavailable`, `SchemaTooNew` or `ServerUnfit`.
 */
export async function openForCommand(config: Config): Promise<CommandDatabase> {
  const appliedMigrations: string[] = [];
  const store = await openStoreForCommand(config, {
    waiting: ({ name }) => console.error(`${name}: ${WAITING}`),
    blocked: ({ name }) => console.error(`${name}: ${BLOCKED}`),
    applied: ({ name }) => void appliedMigrations.push(name),
  });
  const close = () => store.close();
  return {
    store: batched(store, config),
    appliedMigrations,
    newerVersion: store.newerVersion,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function openStoreForCommand(
  config: Config,
  migrationObserver: MigrationObserver,
): Promise<MigratedStore> {
  const { databaseUrl } = config;
  if (databaseUrl.engine === 'sqlite') {
    const { openCommandStore } = await loadSqlite();
    return openCommandStore(databaseUrl.path, migrationObserver);
  }
  const { openPostgresStore } = await loadPostgres();
  return openPostgresStore({
    ...postgresOptions(config, databaseUrl),
    statementTimeoutMs: COMMAND_STATEMENT_TIMEOUT_MS,
    migrationObserver,
  });
}

/**
 * Opens the database for a command that needs exclusive access. Throws `AlreadyServed` while a process serves the
 * SQLite file, and the errors of `openForCommand`. Processes that serve a PostgreSQL database are not detected.
 */
export async function openExclusively(config: Config): Promise<CommandDatabase> {
  const { databaseUrl } = config;
  if (databaseUrl.engine === 'postgres') return openForCommand(config);
  return locked(databaseUrl.path, () => openForCommand(config));
}

/**
 * Runs `work` on an existing database without changing it, not even its schema. Throws `StoreUnavailable`.
 */
export async function inspectDatabase<Result>(
  config: Config,
  work: (inspection: Inspection) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl } = config;
  return databaseUrl.engine === 'postgres'
    ? (await loadPostgres()).inspectPostgres(postgresOptions(config, databaseUrl), work)
    : (await loadSqlite()).inspectFile(databaseUrl.path, work);
}

function batched(
  store: Store,
  { databaseUrl: { engine }, queueLimit: maxQueued }: Pick<Config, 'databaseUrl' | 'queueLimit'>,
  { threads = 1, ...options }: BatchingOptions & { threads?: number } = {},
): BatchingStore {
  if (engine === 'sqlite') {
    const limits = { ...SQLITE_LIMITS, maxQueued };
    return BatchingStore.create(store, { read: limits, write: limits }, options);
  }
  const ofThreads = threads > 1 && { maxLingerMs: MAX_LINGER_OF_THREADS_MS };
  const read = { ...POSTGRES_LIMITS, ...ofThreads, maxQueued };
  // Each batch contains one kind of command and is one statement, which locks rows in a fixed order.
  // Transactions with several statements could lock the same rows in different orders and deadlock.
  const write = { ...read, maxLingerMs: POSTGRES_WRITE_LINGER_MS, ...ofThreads, isOfOneKind: true };
  return BatchingStore.create(store, { read, write }, options);
}

type PostgresUrl = Extract<DatabaseUrl, { engine: 'postgres' }>;

function postgresOptions(config: Config, { url }: PostgresUrl): PostgresOptions {
  return {
    urls: urlsOfHosts(url.reveal()).map((each) => new Secret(each)),
    poolSize: config.postgresPoolSize,
    connectTimeoutMs: config.postgresConnectTimeoutMs,
    statementTimeoutMs: config.postgresStatementTimeoutMs || DEFAULT_STATEMENT_TIMEOUT_MS,
    sessionSettings: config.postgresStatementTimeoutMs > 0,
    preparedStatements: config.postgresPreparedStatements === 'on',
  };
}
