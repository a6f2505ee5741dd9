// Durable history of calls: a response counts once its line is synced to disk, and the final check of the
// service reads the history from there.

import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { Round } from './ledger.ts';
import type { Exchange } from './model.ts';

/** An operation and its response, as one line of the file. */
export interface Entry extends Exchange {
  /** The operations of one round ran concurrently. */
  round: number;
  id: string;
  /** `X-Request-Id` of the response; null if it was lost. */
  requestId: string | null;
}

export class Journal implements AsyncDisposable {
  readonly #file: FileHandle;
  #unwritten = '';
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /** The file contains tokens, so only its owner can read it. */
  static async create(path: string): Promise<Journal> {
    return new Journal(await open(path, 'wx', 0o600));
  }

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Resolves when the entry is durable. Concurrent entries share one sync. */
  append(entry: Entry): Promise<void> {
    this.#unwritten += `${JSON.stringify(entry)}\n`;
    this.#next ??= this.#writing.then(() => this.#write());
    return this.#next;
  }

  async #write(): Promise<void> {
    const text = this.#unwritten;
    this.#unwritten = '';
    this.#writing = this.#next!;
    this.#next = null;
    await this.#file.appendFile(text);
    await this.#file.datasync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#next ?? this.#writing);
    await this.#file.close();
  }
}

export interface JournalledRound extends Round {
  exchanges: Entry[];
}

/** Returns the rounds ordered by their first response, and for each group in order of execution. */
export async function readRounds(path: string): Promise<JournalledRound[]> {
  const rounds = new Map<number, JournalledRound>();
  for (const line of (await readFile(path, 'utf8')).split('\n').filter(Boolean)) {
    const entry = JSON.parse(line) as Entry;
    const round = rounds.get(entry.round) ?? { id: entry.id, exchanges: [] };
    round.exchanges.push(entry);
    rounds.set(entry.round, round);
  }
  return [...rounds.values()];
}
