// The callers' memory: an answer counts from the moment its line is safe on the disk, and what the service is held
// to in the end is read back from there.

import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { Round } from './ledger.ts';
import type { Told } from './model.ts';

/** An operation and its answer, one line each. */
export interface Entry extends Told {
  /** Operations of one round were under way at one time. */
  round: number;
  id: string;
  /** `X-Request-Id` of the answer; null where it was lost. */
  requestId: string | null;
}

export class Journal implements AsyncDisposable {
  readonly #file: FileHandle;
  #unwritten = '';
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /** The file holds tokens, so only its owner can read it. */
  static async create(path: string): Promise<Journal> {
    return new Journal(await open(path, 'wx', 0o600));
  }

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Resolves when the entry is safe. Entries that come together share one sync. */
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
  told: Entry[];
}

/** The rounds in the order of their first answers; those on one group are in the order in which they were. */
export async function readRounds(path: string): Promise<JournalledRound[]> {
  const rounds = new Map<number, JournalledRound>();
  for (const line of (await readFile(path, 'utf8')).split('\n').filter(Boolean)) {
    const entry = JSON.parse(line) as Entry;
    const round = rounds.get(entry.round) ?? { id: entry.id, told: [] };
    round.told.push(entry);
    rounds.set(entry.round, round);
  }
  return [...rounds.values()];
}
