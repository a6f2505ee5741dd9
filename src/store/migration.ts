// Migrations are numbered SQL files, forward only. An adapter runs each in a transaction that first inserts
// its number: if several processes start at the same time, one migrates and the others find it done.
//
// A migration is additive, so the version before it serves the new schema too: processes of both versions can
// share the database during an upgrade, and an upgrade can be undone by starting the earlier version.

import { programFilesIn, readProgramFile } from '../system/program-file.ts';
import { StoreUnavailable } from './port.ts';

export interface Migration {
  number: number;
  /** File name. */
  name: string;
  sql: string;
}

export interface MigrationObserver {
  started?(migration: Migration): void;
  /** Another process is applying the migration. */
  waiting?(migration: Migration): void;
  /** Another session holds a lock that the migration needs. Called once for each migration. */
  blocked?(migration: Migration): void;
  applied?(migration: Migration, tookMs: number): void;
}

export const WAITING = 'waiting to record a migration, which another process may be applying';

export const BLOCKED =
  'another session holds a lock that the migration needs; it is repeated until the lock is free';

/** Number of later schemas that a version serves besides its own. */
const SERVED_BEYOND = 1;

/** The database has a schema that this version cannot serve. */
export class SchemaTooNew extends StoreUnavailable {
  override readonly name = 'SchemaTooNew';
}

/** Migrations of this version: the SQL files in a folder. A schema has the number of its last migration. */
export class Migrations {
  readonly #folder: string;
  readonly #files: string[];

  /** `folder`: a folder of the program, with a slash at the end. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#files = programFilesIn(folder)
      .filter((file) => file.endsWith('.sql'))
      .sort();
  }

  /** Returns the migrations that a database with the schema `number` lacks. Throws `SchemaTooNew`. */
  pending(number: number): Migration[] {
    this.refuseTooNew(number);
    return this.#files.slice(number).map((name, index) => ({
      number: number + index + 1,
      name,
      sql: readProgramFile(this.#folder + name).toString(),
    }));
  }

  /** Throws `SchemaTooNew` if this version cannot serve the schema `number`. */
  refuseTooNew(number: number): void {
    const newest = this.#files.length + SERVED_BEYOND;
    if (number <= newest) return;
    throw new SchemaTooNew(
      `the schema of the database (${number}) is newer than this version of the service can serve (up to ${newest}): use a newer version, or restore the backup from before the upgrade`,
    );
  }

  /** Returns a message that a newer version has migrated to the schema `number`; null if none has. */
  newerVersion(number: number): string | null {
    const known = this.#files.length;
    if (number <= known) return null;
    return `a newer version of the service has migrated the database to schema ${number}; this version serves it without what is new after schema ${known}`;
  }
}
