// Migrations are numbered SQL files, forward only. An adapter runs each in a transaction that first inserts its
// number: of processes that start at the same time, one migrates and the others find it done.

import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  number: number;
  /** The name of its file. */
  name: string;
  sql: string;
}

/** The database was written by a newer version of the service. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
}

/** The migrations in `folder` that come after number `newest`. Throws `SchemaTooNew`. */
export function pendingMigrations(folder: URL, newest: number): Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  if (newest > files.length) {
    throw new SchemaTooNew(
      `the schema of the database (${newest}) is newer than this version of the service (${files.length}): use a newer version`,
    );
  }
  return files
    .map((name, index) => ({ number: index + 1, name, sql: readFileSync(new URL(name, folder), 'utf8') }))
    .slice(newest);
}
