// Migrations on PostgreSQL. If several processes start at the same time, one runs each migration; the others
// wait for the row lock of its number.

import { type Migration, type MigrationObserver, Migrations } from '../../migration.ts';
import type { Table } from '../../tables.ts';
import { BEGIN_WITHOUT_LIMITS } from '../client/isolation.ts';
import { distributeTables } from './citus.ts';
import { updatePositionBase } from './position-base.ts';
import type { SchemaSession } from './session.ts';

export const migrations = new Migrations('store/postgres/schema/migrations/');
const OLDEST_SERVER = 14;
/** The encodings that can store every character unchanged. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];
const UNDEFINED_TABLE = '42P01';
/**
 * Errors of two concurrent "create table if not exists", which PostgreSQL does not serialize. The code depends on the
 * catalogue in which they collide: a unique key, the table, or its row type.
 */
const CREATED_BY_ANOTHER = ['23505', '42P07', '42710'];
const INSUFFICIENT_PRIVILEGE = '42501';
/** Lock timeout, deadlock with a request. */
const LOCKED = ['55P03', '40P01'];
/**
 * Maximum wait of a statement of a migration for a lock, for example that of pg_dump, because requests queue behind it.
 * Shorter than their own lock timeout by default, and longer than PostgreSQL takes to cancel autovacuum (one second).
 */
const LOCK_WAIT_MS = 1_250;
/** Time after which a process reports that it waits for another one that migrates: longer than a blocked attempt. */
const REPORT_WAIT_MS = 2_000;
/** Pause after such a wait, in which requests are served. */
const LOCK_PAUSE_SECONDS = 3;
/** Indexes of columns that are unique. */
const UNIQUE_KEYS = ['api_tokens_digest_key', 'workspaces_name_key'];
/** Duplicate table, undefined column. */
const FOREIGN_SCHEMA = ['42P07', '42703'];

/**
 * The server is too old or configured in an unsupported way, or the database is incomplete or belongs to another
 * application.
 */
export class ServerUnfit extends Error {
  override readonly name = 'ServerUnfit';
}

/**
 * Migrates the database to the newest schema of this version; returns the number of its schema. Throws `ServerUnfit`,
 * `SchemaTooNew` and `StoreUnavailable`.
 */
export async function migrate(session: SchemaSession, observer: MigrationObserver = {}): Promise<number> {
  await checkServer(session);
  const number = await applyPending(session, observer);
  await distributeTables(session, createdTables());
  await updatePositionBase(session);
  return number;
}

/** Returns the tables that the migrations of this version create. */
export function createdTables(): Table[] {
  return namesIn(/^create table (\w+)/gm) as Table[];
}

/** Returns the tables and indexes of the newest schema. test/process/doctor.test.ts compares them with a new database. */
export function createdRelations(): string[] {
  const tables = [...createdTables(), 'schema_migrations'];
  const keys = tables.map((table) => `${table}_pkey`);
  return [...tables, ...keys, ...UNIQUE_KEYS, ...namesIn(/^create (?:unique )?index (\w+)/gm)].sort();
}

function namesIn(statements: RegExp): string[] {
  return migrations.pending(0).flatMap(({ sql }) => [...sql.matchAll(statements)].map(([, name]) => name!));
}

/** Throws `ServerUnfit` and `StoreUnavailable`. */
export async function checkServer(session: SchemaSession): Promise<void> {
  await checkVersion(session);
  await checkSettings(session);
}

async function checkVersion({ ask }: SchemaSession): Promise<void> {
  const [row] = await ask('show server_version');
  const version = row?.[0] as string;
  if (Number.parseInt(version, 10) < OLDEST_SERVER) {
    throw new ServerUnfit(`PostgreSQL ${version} is too old: version ${OLDEST_SERVER} or later is required`);
  }
}

async function checkSettings({ ask }: SchemaSession): Promise<void> {
  const rows = await ask(
    "select name, setting from pg_settings where name in ('server_encoding', 'array_nulls')",
  );
  const settings = new Map(rows as [string, string][]);
  const encoding = settings.get('server_encoding')!;
  if (!ENCODINGS.includes(encoding)) {
    throw new ServerUnfit(
      `the encoding of the database is ${encoding}, which cannot store every character: create the database with encoding UTF8`,
    );
  }
  if (settings.get('array_nulls') === 'off') {
    throw new ServerUnfit(
      'PostgreSQL runs with array_nulls = off, which turns null into text: turn it on for the user of the service',
    );
  }
}

async function applyPending(session: SchemaSession, observer: MigrationObserver): Promise<number> {
  try {
    const number = await newestApplied(session);
    const pending = migrations.pending(number);
    for (const migration of pending) await apply(session, migration, observer).catch(explainMissingPrivilege);
    return pending.at(-1)?.number ?? number;
  } catch (error) {
    if (!FOREIGN_SCHEMA.includes(errorCode(error))) throw error;
    const { message } = error as Error;
    throw new ServerUnfit(
      `the database has tables of another application (${message}): the service needs its own database or schema`,
    );
  }
}

/** The number of the newest applied migration; 0 if there is none. */
async function newestApplied(session: SchemaSession): Promise<number> {
  try {
    const [row] = await session.ask('select coalesce(max(number), 0) from schema_migrations');
    return row?.[0] as number;
  } catch (error) {
    // Select before create: the user may have no right to create tables.
    if (errorCode(error) !== UNDEFINED_TABLE) throw error;
    await createTable(session);
    return newestApplied(session);
  }
}

async function createTable({ change }: SchemaSession): Promise<void> {
  try {
    await change(`create table if not exists schema_migrations (
      number integer not null primary key, name text not null, applied_at bigint not null)`);
  } catch (error) {
    if (!CREATED_BY_ANOTHER.includes(errorCode(error))) explainMissingPrivilege(error);
  }
}

async function apply(
  session: SchemaSession,
  migration: Migration,
  observer: MigrationObserver,
): Promise<void> {
  let isRepeated = false;
  while (!(await isApplied(session, migration, observer, isRepeated))) {
    await session.change('rollback');
    if (!isRepeated) observer.blocked?.(migration);
    isRepeated = true;
    // A statement instead of a timer, because the signal to stop ends statements.
    await session.change(`${BEGIN_WITHOUT_LIMITS}; select pg_sleep(${LOCK_PAUSE_SECONDS}); commit`);
  }
}

/** Returns false, with the transaction aborted, if another session holds a lock that the migration needs. */
async function isApplied(
  { change }: SchemaSession,
  migration: Migration,
  observer: MigrationObserver,
  isRepeated: boolean,
): Promise<boolean> {
  const { number, name, sql } = migration;
  await change(BEGIN_WITHOUT_LIMITS);
  const report = setTimeout(() => isRepeated || observer.waiting?.(migration), REPORT_WAIT_MS);
  const inserted = await change(
    `insert into schema_migrations (number, name, applied_at) values ($1, $2, $3)
      on conflict (number) do nothing returning number`,
    [number, name, Date.now()],
  ).finally(() => clearTimeout(report));
  const isPending = inserted.length === 1;
  const startedAt = performance.now();
  if (isPending) {
    if (!isRepeated) observer.started?.(migration);
    try {
      await change(`set local lock_timeout = ${LOCK_WAIT_MS}; ${sql}`);
    } catch (error) {
      if (!LOCKED.includes(errorCode(error))) throw error;
      return false;
    }
  }
  await change('commit');
  if (isPending) observer.applied?.(migration, performance.now() - startedAt);
  return true;
}

/** The service may run as a user without DDL privileges. */
function explainMissingPrivilege(error: unknown): never {
  if (errorCode(error) !== INSUFFICIENT_PRIVILEGE) throw error;
  const { message } = error as Error;
  throw new ServerUnfit(
    `the schema is older than this version requires, and the user may not change it (${message}): ` +
      'run "user-group-service migrate" as the owner of the tables first',
  );
}

function errorCode(error: unknown): string {
  // An undefined table is a `TransientError`, with PostgreSQL's error as its cause.
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  return code ?? cause?.code ?? '';
}
