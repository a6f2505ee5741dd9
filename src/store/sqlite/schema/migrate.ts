import { type Migration, type MigrationObserver, Migrations } from '../../migration.ts';
import { StoreUnavailable } from '../../port.ts';
import { READS } from '../../reads.ts';
import type { Row } from '../../row-shape.ts';
import type { Connection } from '../file/connection.ts';

export const migrations = new Migrations('store/sqlite/schema/migrations/');
const IS_OF_OTHER_APPLICATION = `select exists (select 1 from sqlite_schema)
  and not exists (select 1 from pragma_table_info('schema_migrations') where name = 'number')`;

/** Migrates to the newest schema of this version; returns the number of the schema. Throws `SchemaTooNew`. */
export function migrate(connection: Connection, observer: MigrationObserver): number {
  connection.execute(`create table if not exists schema_migrations (
    number integer not null primary key, name text not null, applied_at integer not null) strict`);
  const number = connection.transaction('deferred', () => connection.read(READS.ping()));
  const pending = migrations.pending(number);
  if (pending.length > 0) connection.keepTemporaryFilesBeside();
  for (const migration of pending) apply(connection, migration, observer);
  return pending.at(-1)?.number ?? number;
}

/** Throws `StoreUnavailable` if the file has tables, but not the one that `migrate` creates first. */
export function refuseOtherApplication(file: string, ask: (sql: string) => Row): void {
  if (ask(IS_OF_OTHER_APPLICATION)[0] === 1)
    throw new StoreUnavailable(
      `SQLite: ${file} has tables of another application: name a file that only the service uses`,
    );
}

function apply(connection: Connection, migration: Migration, observer: MigrationObserver): void {
  const startedAt = performance.now();
  const isApplied = connection.transaction('immediate', () => {
    const changes = connection.run(
      'insert into schema_migrations (number, name, applied_at) values (?, ?, ?) on conflict do nothing',
      [migration.number, migration.name, Date.now()],
    );
    if (changes === 0) return false;
    observer.started?.(migration);
    connection.execute(migration.sql);
    return true;
  });
  if (isApplied) observer.applied?.(migration, performance.now() - startedAt);
}
