// Reads a database file without migrating it.

import { accessSync, constants } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StoredToken } from '../../../domain/key-ring.ts';
import { STORED_TOKEN } from '../../entities.ts';
import type { Finding, Inspection } from '../../inspection.ts';
import { StoreUnavailable } from '../../port.ts';
import { guard, requireRegularFile } from '../file/file.ts';
import { migrations } from './migrate.ts';

const BUSY_TIMEOUT_MS = 5_000;

/** Runs `work` on an existing file. Throws `StoreUnavailable`. */
export async function inspectFile<Result>(
  path: string,
  work: (inspection: SqliteInspection) => Promise<Result> | Result,
): Promise<Result> {
  using database = guard(() => {
    requireRegularFile(path);
    // Absolute, because SQLite treats a path that begins with "file:" as a URI.
    return new DatabaseSync(resolve(path), { timeout: BUSY_TIMEOUT_MS });
  }, path);
  return await work(new SqliteInspection(database, path));
}

export class SqliteInspection implements Inspection {
  readonly #database: DatabaseSync;
  readonly #path: string;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  version(): string {
    return `SQLite ${this.#rows('select sqlite_version()')[0]![0]}`;
  }

  isInitialized(): boolean {
    const tables = ['schema_migrations', 'user_groups', 'token_keys'].filter((name) => this.#hasTable(name));
    return tables.length === 3;
  }

  pendingMigrations(): string[] {
    return migrations.pending(this.#schemaNumber()).map(({ name }) => name);
  }

  newerVersion(): string | null {
    return migrations.newerVersion(this.#schemaNumber());
  }

  #schemaNumber(): number {
    if (!this.#hasTable('schema_migrations')) return 0;
    return this.#rows('select coalesce(max(number), 0) from schema_migrations')[0]![0] as number;
  }

  findings(): Finding[] {
    try {
      guard(() => this.#checkWritable(), this.#path);
      return [];
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      const remedy =
        'make the file and its directory writable for the user of the service, and stop programs that lock the file';
      return [{ subject: 'privileges', isFatal: true, message: error.message, remedy }];
    }
  }

  clockAheadMs(): null {
    return null;
  }

  registeredKeyIds(): string[] {
    return this.#rows('select key_id from token_keys order by key_id').map(([id]) => id as string);
  }

  countTokens(): Map<string, number> {
    const rows = this.#rows('select token_key_id, count(*) from user_groups group by token_key_id');
    return new Map(rows as [string, number][]);
  }

  sampleTokens(keyId: string, limit: number): StoredToken[] {
    const sql = `select ${STORED_TOKEN.names} from user_groups where token_key_id = ? limit ?`;
    return STORED_TOKEN.readAll(this.#rows(sql, keyId, limit));
  }

  /** Reads the complete file. Returns the first corruption; null if it is intact. */
  findCorruption(): string | null {
    const found = String(this.#rows('pragma integrity_check(1)')[0]![0]);
    return found === 'ok' ? null : found.replaceAll('\n', ' ');
  }

  #hasTable(name: string): boolean {
    return this.#rows("select 1 from sqlite_schema where type = 'table' and name = ?", name).length > 0;
  }

  /** Takes the write lock without writing. */
  #checkWritable(): void {
    accessSync(this.#path, constants.R_OK | constants.W_OK);
    accessSync(dirname(resolve(this.#path)), constants.R_OK | constants.W_OK | constants.X_OK);
    this.#database.exec('begin immediate; rollback');
  }

  #rows(sql: string, ...values: (string | number)[]): unknown[][] {
    return guard(() => {
      const statement = this.#database.prepare(sql);
      statement.setReturnArrays(true);
      return statement.all(...values) as unknown as unknown[][];
    }, this.#path);
  }
}
