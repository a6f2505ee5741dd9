// Reads a database file without migrating it.

import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Finding, Inspection } from '../../inspection.ts';
import { StoreUnavailable } from '../../port.ts';
import type { Cell } from '../../row-shape.ts';
import { BUSY_TIMEOUT_MS, withNumberedParameters } from '../file/connection.ts';
import { refuseForeignLog, refuseHardLink, requireRegularFile } from '../file/file.ts';
import { asStoreError, guard } from '../file/file-error.ts';
import { lockFilePath } from '../file/lock.ts';
import { findCorruption } from './check.ts';
import { migrations, refuseOtherApplication } from './migrate.ts';

/** Runs `work` on an existing file. Throws `StoreUnavailable`. */
export async function inspectFile<Result>(
  path: string,
  work: (inspection: SqliteInspection) => Promise<Result> | Result,
): Promise<Result> {
  using database = guard(() => {
    requireRegularFile(path);
    refuseForeignLog(path);
    // Absolute, because SQLite treats a path that begins with "file:" as a URI.
    return new DatabaseSync(resolve(path), { timeout: BUSY_TIMEOUT_MS });
  }, path);
  return await work(new SqliteInspection(database, path));
}

export class SqliteInspection extends Inspection {
  readonly #database: DatabaseSync;
  readonly #path: string;

  constructor(database: DatabaseSync, path: string) {
    super(migrations, async (sql, values) => this.#rows(sql, values));
    this.#database = database;
    this.#path = path;
  }

  async version(): Promise<string> {
    return `SQLite ${this.#rows('select sqlite_version()')[0]![0]}`;
  }

  async findings(): Promise<Finding[]> {
    const findings = [
      ...this.#attempt('database', 'see the reasons under "Log messages" in docs/troubleshoot.md', () => {
        refuseHardLink(this.#path);
        refuseOtherApplication(this.#path, (sql) => this.#rows(sql)[0]!);
      }),
      ...this.#attempt(
        'privileges',
        'make the database, the files whose names start with its name, and their directory writable for the user of the service; if it is locked, stop the program that locks it, or check the disk if that is the service',
        () => this.#checkWritable(),
      ),
    ];
    return findings.length > 0 ? findings : this.#damage();
  }

  async #damage(): Promise<Finding[]> {
    const corruption = await findCorruption(resolve(this.#path), 'quick_check(1)').catch((error) => {
      throw asStoreError(error, this.#path);
    });
    if (corruption === null) return [];
    const message = `SQLite: the database is damaged: ${corruption}`;
    const remedy =
      'stop the service, keep a copy of the files, and restore: see "Restore" in docs/back-up.md';
    return [{ subject: 'database', isFatal: true, message, remedy }];
  }

  #attempt(subject: Finding['subject'], remedy: string, check: () => void): Finding[] {
    try {
      guard(check, this.#path);
      return [];
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return [{ subject, isFatal: true, message: error.message, remedy }];
    }
  }

  async clockAheadMs(): Promise<null> {
    return null;
  }

  /** None can be missing: a file is restored as a whole. */
  async missingRelations(): Promise<string[]> {
    return [];
  }

  protected async hasTable(name: string): Promise<boolean> {
    return this.#rows("select 1 from sqlite_schema where type = 'table' and name = $1", [name]).length > 0;
  }

  /** Takes the write lock without writing. */
  #checkWritable(): void {
    const lockFile = lockFilePath(realpathSync(this.#path));
    for (const file of [this.#path, lockFile].filter((each) => existsSync(each)))
      accessSync(file, constants.R_OK | constants.W_OK);
    accessSync(dirname(resolve(this.#path)), constants.R_OK | constants.W_OK | constants.X_OK);
    this.#database.exec('begin immediate; rollback');
  }

  #rows(sql: string, values: Cell[] = []): unknown[][] {
    return guard(() => {
      const statement = this.#database.prepare(withNumberedParameters(sql));
      statement.setReturnArrays(true);
      return statement.all(...values) as unknown as unknown[][];
    }, this.#path);
  }
}
