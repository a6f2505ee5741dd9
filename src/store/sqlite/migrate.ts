import { type Migration, pendingMigrations } from '../migration.ts';
import type { Connection } from './connection.ts';

export const FOLDER = new URL('./migrations/', import.meta.url);

/** Migrates the database to the newest schema; returns the names of the migrations that ran. Throws `SchemaTooNew`. */
export function migrate(connection: Connection): string[] {
  connection.execute(`create table if not exists schema_migrations (
    number integer not null primary key, name text not null, applied_at integer not null) strict`);
  const [newest] = connection.transaction('deferred', () =>
    connection.statement('select coalesce(max(number), 0) from schema_migrations').get(),
  ) as unknown as [number];
  return pendingMigrations(FOLDER, newest)
    .filter((migration) => apply(connection, migration))
    .map(({ name }) => name);
}

function apply(connection: Connection, { number, name, sql }: Migration): boolean {
  return connection.transaction('immediate', () => {
    const { changes } = connection
      .statement(
        'insert into schema_migrations (number, name, applied_at) values (?, ?, ?) on conflict do nothing',
      )
      .run(number, name, Date.now());
    if (changes === 0) return false;
    connection.execute(sql);
    return true;
  });
}
