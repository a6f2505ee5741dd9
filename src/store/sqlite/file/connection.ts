// One connection to the database file. Sets the pragmas that durability depends on and reads them back, because
// defaults differ between builds of SQLite.

import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { EventQuota, NO_EVENT_QUOTA } from '../../../domain/event/quota.ts';
import { StoreUnavailable } from '../../port.ts';
import type { Cell, Row } from '../../row-shape.ts';
import type { Call } from '../../statement.ts';
import type { Steps } from '../../steps.ts';
import { rewrite } from './file.ts';
import { guard, isFailedSync } from './file-error.ts';

/** 3.51.3 fixed a bug in the write-ahead log that could corrupt a database. */
const OLDEST_SQLITE = [3, 51, 3];
/** Wait for the lock of another connection. */
export const BUSY_TIMEOUT_MS = 5_000;
/** Wait for other connections when the log is truncated; writes wait for as long. */
const SHORT_BUSY_TIMEOUT_MS = 100;
/**
 * 40 MB, so that a page changed by many creates is written back once. SQLite's default of 1 000 pages makes creates a
 * third slower.
 */
export const CHECKPOINT_PAGES = 10_000;
/**
 * 192 MiB: more than the log has while the service checkpoints it (see `Checkpointer`). A longer log is
 * truncated when it is reused, which takes a commit 40 ms.
 */
const MAX_LOG_BYTES = 201_326_592;

/** Pages of the write-ahead log. */
interface LogPages {
  /** Pages written to the log since it was restarted. */
  written: number;
  /** Number of these that have been copied into the database. */
  copied: number;
}

/** Called if a checkpoint could not sync the log or the database. */
type FailedSyncHandler = (error: Error) => void;

/** Converts parameters that are numbered as on PostgreSQL, `$1`, to those of SQLite, `?1`. */
export function withNumberedParameters(sql: string): string {
  return sql.replaceAll('$', '?');
}

export class Connection {
  readonly eventQuota: EventQuota;
  readonly file: string;
  readonly #onFailedSync: FailedSyncHandler | null;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #busyTimeoutMs = BUSY_TIMEOUT_MS;

  /**
   * Opens an existing file. With `onFailedSync`, checkpoints run beside the commits (see `Checkpointer`); without it, a
   * commit checkpoints a long log. Throws `StoreUnavailable`.
   */
  constructor(
    file: string,
    eventQuota = new EventQuota(NO_EVENT_QUOTA),
    onFailedSync: FailedSyncHandler | null = null,
  ) {
    this.file = file;
    this.eventQuota = eventQuota;
    this.#onFailedSync = onFailedSync;
    this.#database = guard(() => {
      // SQLite would create a new, empty file if the disk is not mounted.
      accessSync(file);
      return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    }, file);
    try {
      this.#configure();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #configure(): void {
    const version = String(this.#pragma('select sqlite_version()'));
    const parts = version.split('.').map(Number);
    const difference =
      OLDEST_SQLITE.map((part, index) => (parts[index] ?? 0) - part).find((part) => part !== 0) ?? 0;
    if (difference < 0)
      throw new Error(`SQLite ${version} is older than ${OLDEST_SQLITE.join('.')}: use a newer Node`);
    // FULL: the write-ahead log is synced at each commit, so that a power cut loses nothing acknowledged.
    this.#expect('journal_mode', 'wal', 'wal');
    this.#expect('synchronous', 'full', 2);
    this.#expect('busy_timeout', BUSY_TIMEOUT_MS, BUSY_TIMEOUT_MS);
    this.#expect('trusted_schema', 'off', 0);
    // Deleted values are overwritten with zeros. The log keeps them until `truncateLog`.
    this.#expect('secure_delete', 'on', 1);
    this.#expect('journal_size_limit', MAX_LOG_BYTES, MAX_LOG_BYTES);
    const checkpointPages = this.#onFailedSync === null ? CHECKPOINT_PAGES : 0;
    this.#expect('wal_autocheckpoint', checkpointPages, checkpointPages);
  }

  /**
   * Makes the process write temporary files, such as those that sort a large table, beside the database: other
   * directories may be read-only or too small. Throws `StoreUnavailable`.
   */
  keepTemporaryFilesBeside(): void {
    const directory = dirname(this.file);
    guard(() => accessSync(directory, constants.W_OK));
    this.#pragma(`pragma temp_store_directory = '${directory.replaceAll("'", "''")}'`);
  }

  #expect(pragma: string, wanted: string | number, shown: string | number): void {
    this.#pragma(`pragma ${pragma} = ${wanted}`);
    const found = this.#pragma(`pragma ${pragma}`);
    if (found !== shown) throw new Error(`SQLite reports ${pragma} = ${found} after it was set to ${wanted}`);
  }

  #pragma(sql: string): unknown {
    const row = guard(() => this.#database.prepare(sql).get(), this.file);
    return row && Object.values(row)[0];
  }

  /** The statement, prepared once. Rows are arrays, which cost half as much as objects. */
  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(withNumberedParameters(sql));
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Returns the number of changed rows. */
  run(sql: string, values: readonly Cell[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** Returns the row id of the inserted row. */
  insert(sql: string, values: readonly Cell[]): number {
    return Number(this.#statement(sql).run(...values).lastInsertRowid);
  }

  get(sql: string, values: readonly Cell[] = []): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined;
  }

  all(sql: string, values: readonly Cell[]): Row[] {
    return this.#statement(sql).all(...values) as unknown as Row[];
  }

  read<Result>({ statement, values, toResult }: Call<Result>): Result {
    return toResult(this.all(statement.sql, values));
  }

  perform<Result>(steps: Steps<Result>): Result {
    let step = steps.next();
    while (!step.done) step = steps.next(step.value.map((each) => this.read(each)));
    return step.value;
  }

  iterate(sql: string, values: readonly Cell[]): Iterable<Row> {
    return this.#statement(sql).iterate(...values) as unknown as Iterable<Row>;
  }

  /** Runs SQL from the source tree, such as a migration. */
  execute(sql: string): void {
    guard(() => this.#database.exec(sql), this.file);
  }

  /**
   * Syncs the write-ahead log. Commits that a killed process wrote but did not sync look committed, so they must be
   * durable before anyone reads them. Throws `StoreUnavailable`.
   */
  syncLog(): void {
    // The transaction keeps other writers out of the log.
    this.transaction('immediate', () => rewrite(`${this.file}-wal`));
  }

  /** Takes 4 microseconds. Throws `StoreUnavailable`. */
  logPages(): LogPages {
    const [, written, copied] = guard(() => this.get('pragma wal_checkpoint(noop)'), this.file) as number[];
    return { written: written!, copied: copied! };
  }

  /** Moves the log into the database and empties it. Returns false if another connection keeps a snapshot. */
  truncateLog(): boolean {
    try {
      this.#pragma(`pragma busy_timeout = ${SHORT_BUSY_TIMEOUT_MS}`);
      return this.checkpoint('truncate');
    } finally {
      this.#pragma(`pragma busy_timeout = ${this.#busyTimeoutMs}`);
    }
  }

  /**
   * Copies the part of the log that no reader needs into the database. Syncs the database only if that was all of the log.
   * Returns false if another connection prevented it.
   */
  checkpoint(mode: 'passive' | 'truncate' = 'passive'): boolean {
    try {
      return this.#pragma(`pragma wal_checkpoint(${mode})`) === 0;
    } catch (error) {
      // Committed changes stay committed; after any other error, the next checkpoint tries again.
      if (isFailedSync(error)) this.#onFailedSync?.(error as Error);
      return false;
    }
  }

  /** Limits how long the next transactions wait for the lock of another connection. Throws `StoreUnavailable`. */
  limitLockWait(milliseconds: number): void {
    const busyTimeoutMs = Math.max(0, Math.ceil(milliseconds));
    if (busyTimeoutMs === this.#busyTimeoutMs) return;
    this.#pragma(`pragma busy_timeout = ${busyTimeoutMs}`);
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /** Runs `work` in a transaction. Throws `StoreUnavailable`. */
  transaction<Result>(mode: 'deferred' | 'immediate', work: () => Result): Result {
    if (!this.#database.isOpen) throw new StoreUnavailable('SQLite: the file is closed');
    return guard(() => {
      this.#statement(`begin ${mode}`).run();
      try {
        const result = work();
        this.#statement('commit').run();
        return result;
      } catch (error) {
        // SQLite has rolled back already after some errors, a full disk among them.
        if (this.#database.isTransaction) this.#statement('rollback').run();
        throw error;
      }
    }, this.file);
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }
}
