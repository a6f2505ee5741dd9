// Migrations are numbered SQL files, forward only, each in a transaction that first writes down its own number:
// of processes that start together, one migrates and the others find it done.

import { readdirSync, readFileSync } from 'node:fs';
import type { Connection } from './connection.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** The database was written by a newer version of the service. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
}

/** Brings the database to the newest schema; returns the names of the migrations that ran. */
export function migrate(connection: Connection): string[] {
  connection.execute(`create table if not exists schema_migrations (
    number integer not null primary key, name text not null, applied_at integer not null) strict`);
  const [newest] = connection
    .statement('select coalesce(max(number), 0) from schema_migrations')
    .get() as unknown as [number];
  const files = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  if (newest > files.length) {
    throw new SchemaTooNew(
      `the database has schema ${newest} and this version knows ${files.length}: use a newer version`,
    );
  }
  return files.filter((file, index) => index >= newest && apply(connection, index + 1, file));
}

function apply(connection: Connection, number: number, file: string): boolean {
  return connection.transaction('immediate', () => {
    const { changes } = connection
      .statement(
        'insert into schema_migrations (number, name, applied_at) values (?, ?, ?) on conflict do nothing',
      )
      .run(number, file, Date.now());
    if (changes === 0) return false;
    connection.execute(readFileSync(new URL(file, FOLDER), 'utf8'));
    return true;
  });
}
