// One connection to the database file, with the settings that durability rests on set and read back: defaults
// move between builds of SQLite.

import { accessSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { guard, rewrite } from './file.ts';

/** 3.51.3 mended a bug of the write-ahead log that could corrupt a database. */
const OLDEST_SQLITE = [3, 51, 3];
const BUSY_TIMEOUT_MS = 5_000;

export class Connection {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Opens a file that is there. Throws `StoreUnavailable`. */
  constructor(file: string) {
    this.#file = file;
    this.#database = guard(() => {
      // SQLite would make it anew, empty, where its disk is away.
      accessSync(file);
      return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    });
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
    this.#expect('journal_size_limit', 67_108_864, 67_108_864);
    // 40 MB: a page that many creates change is written back once. SQLite's 1 000 pages cost a third of the creates.
    this.#expect('wal_autocheckpoint', 10_000, 10_000);
  }

  #expect(pragma: string, wanted: string | number, shown: string | number): void {
    this.#pragma(`pragma ${pragma} = ${wanted}`);
    const found = this.#pragma(`pragma ${pragma}`);
    if (found !== shown) throw new Error(`SQLite shows ${pragma} = ${found} after it was set to ${wanted}`);
  }

  #pragma(sql: string): unknown {
    const row = guard(() => this.#database.prepare(sql).get());
    return row && Object.values(row)[0];
  }

  /** The statement, prepared once. Its columns come as an array: half the cost of an object. */
  statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs SQL that is part of the program, such as a migration. */
  execute(sql: string): void {
    guard(() => this.#database.exec(sql));
  }

  /**
   * Makes safe what the log holds. What a killed process has written and not synced is read as committed, so nobody
   * may hear of it before. Throws `StoreUnavailable`.
   */
  settleLog(): void {
    // Nobody else writes to the log meanwhile.
    this.transaction('immediate', () => rewrite(`${this.#file}-wal`));
  }

  /** Runs `work` in a transaction: all of it is committed or none. Throws `StoreUnavailable`. */
  transaction<Result>(mode: 'deferred' | 'immediate', work: () => Result): Result {
    return guard(() => {
      this.statement(`begin ${mode}`).run();
      try {
        const result = work();
        this.statement('commit').run();
        return result;
      } catch (error) {
        // Some errors, a full disk among them, have rolled back already.
        if (this.#database.isTransaction) this.statement('rollback').run();
        throw error;
      }
    });
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }
}
