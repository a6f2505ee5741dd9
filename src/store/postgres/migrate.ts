// Migrations on PostgreSQL. Twenty processes that start at once run each of them once: all but one wait at the
// row with its number.

import { type Migration, pendingMigrations } from '../migration.ts';
import { BEGIN_WITHOUT_LIMITS } from './begin.ts';
import { distributeTables } from './citus.ts';
import type { MigrationSession } from './migration-connection.ts';

const FOLDER = new URL('./migrations/', import.meta.url);
const OLDEST_SERVER = 14;
/** The encodings in which PostgreSQL keeps every text as it comes. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];
const UNDEFINED_TABLE = '42P01';
/**
 * Two that create a table at one moment: "if not exists" does not keep them apart. Which of the catalogues they
 * meet in decides the code: a unique key, the table, or the type of its rows.
 */
const CREATED_BY_ANOTHER = ['23505', '42P07', '42710'];
const INSUFFICIENT_PRIVILEGE = '42501';
/** A table that is there already, and a column that it has not. */
const OF_SOMETHING_ELSE = ['42P07', '42703'];

/** The server is too old, or set to what the service cannot use, or the database is somebody else's. */
export class ServerUnfit extends Error {
  override readonly name = 'ServerUnfit';
}

/**
 * Brings the database to the newest schema; returns the names of the migrations that ran. Throws `ServerUnfit`,
 * `SchemaTooNew` and `StoreUnavailable`.
 */
export async function migrate(session: MigrationSession): Promise<string[]> {
  await checkVersion(session);
  await checkSettings(session);
  const applied = await applyPending(session);
  await distributeTables(session);
  return applied;
}

async function checkVersion({ ask }: MigrationSession): Promise<void> {
  const [row] = await ask('show server_version');
  const version = row?.[0] as string;
  if (Number.parseInt(version, 10) < OLDEST_SERVER) {
    throw new ServerUnfit(`PostgreSQL ${version} is too old: version ${OLDEST_SERVER} or later is needed`);
  }
}

async function checkSettings({ ask }: MigrationSession): Promise<void> {
  const rows = await ask(
    "select name, setting from pg_settings where name in ('server_encoding', 'array_nulls')",
  );
  const settings = new Map(rows as [string, string][]);
  const encoding = settings.get('server_encoding')!;
  if (!ENCODINGS.includes(encoding)) {
    throw new ServerUnfit(
      `the database is encoded in ${encoding}, which has not every character: one encoded in UTF8 is needed`,
    );
  }
  if (settings.get('array_nulls') === 'off') {
    throw new ServerUnfit(
      'PostgreSQL runs with array_nulls = off, which makes a text of what is null: it has to be on for the user of the service',
    );
  }
}

async function applyPending(session: MigrationSession): Promise<string[]> {
  const applied: string[] = [];
  try {
    for (const migration of pendingMigrations(FOLDER, await newestApplied(session))) {
      if (await apply(session, migration).catch(explainRights)) applied.push(migration.name);
    }
  } catch (error) {
    if (!OF_SOMETHING_ELSE.includes(codeOf(error))) throw error;
    const { message } = error as Error;
    throw new ServerUnfit(
      `the database has tables of something else (${message}): the service needs a database or a schema of its own`,
    );
  }
  return applied;
}

/** The number of the newest migration that was applied, 0 where none was. */
async function newestApplied(session: MigrationSession): Promise<number> {
  try {
    const [row] = await session.ask('select coalesce(max(number), 0) from schema_migrations');
    return row?.[0] as number;
  } catch (error) {
    // Asked first and created then: a server may let the service use its tables and create none.
    if (codeOf(error) !== UNDEFINED_TABLE) throw error;
    await createTable(session);
    return newestApplied(session);
  }
}

async function createTable({ change }: MigrationSession): Promise<void> {
  try {
    await change(`create table if not exists schema_migrations (
      number integer not null primary key, name text not null, applied_at bigint not null)`);
  } catch (error) {
    if (!CREATED_BY_ANOTHER.includes(codeOf(error))) throw error;
  }
}

async function apply({ change }: MigrationSession, { number, name, sql }: Migration): Promise<boolean> {
  await change(BEGIN_WITHOUT_LIMITS);
  const inserted = await change(
    `insert into schema_migrations (number, name, applied_at) values ($1, $2, $3)
      on conflict (number) do nothing returning number`,
    [number, name, Date.now()],
  );
  if (inserted.length === 1) await change(sql);
  await change('commit');
  return inserted.length === 1;
}

/** A service may have a user that uses the tables and changes none. */
function explainRights(error: unknown): never {
  if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
  const { message } = error as Error;
  throw new ServerUnfit(
    `the database has an older schema than this version needs, and the user may not change it (${message}): ` +
      'run "user-group-service migrate" as the owner of the tables first',
  );
}

function codeOf(error: unknown): string {
  // A table that is not there is a failure, which has PostgreSQL's own error as its cause.
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  return code ?? cause?.code ?? '';
}
