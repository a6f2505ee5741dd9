// Commands that arrive together travel together: what is submitted in one turn of the event loop runs as one
// statement or one transaction. A lone command is a batch of one and leaves in the same turn.

import { Problem } from '../problem.ts';
import {
  type Command,
  type CommandKind,
  type CommandResult,
  type Query,
  type QueryKind,
  type QueryResult,
  type Store,
  StoreUnavailable,
} from './store.ts';

interface BatchLimits {
  /** Commands in one batch. */
  maxBatch: number;
  /** Batches that the database works on at one time. */
  maxInFlight: number;
  /** Commands that wait for a batch; one more is refused as `overloaded`. */
  maxQueued: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

class Batcher<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]> | Result[];
  readonly #limits: BatchLimits;
  #waiting: Waiting<Item, Result>[] = [];
  #inFlight = 0;
  #scheduled = false;

  constructor(run: (items: Item[]) => Promise<Result[]> | Result[], limits: BatchLimits) {
    this.#run = run;
    this.#limits = limits;
  }

  submit(item: Item): Promise<Result> {
    if (this.#waiting.length >= this.#limits.maxQueued) {
      return Promise.reject(
        new Problem('overloaded', 'Too many requests wait for the database. Try again shortly.', {
          retryAfterSeconds: 1,
        }),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= this.#limits.maxInFlight || this.#waiting.length === 0) return;
    this.#scheduled = true;
    // After the sockets of this turn have been read, and before the loop waits for more.
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#waiting.length > 0 && this.#inFlight < this.#limits.maxInFlight) {
        void this.#runBatch(this.#waiting.splice(0, this.#limits.maxBatch));
      }
    });
  }

  async #runBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    this.#inFlight++;
    try {
      const running = this.#run(batch.map(({ item }) => item));
      // An adapter that answers at once saves a turn of the microtask queue.
      const results = running instanceof Promise ? await running : running;
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      await this.#runSingly(batch, error);
    } finally {
      this.#inFlight--;
      this.#schedule();
    }
  }

  /** One bad command must not fail its neighbours. */
  async #runSingly(batch: Waiting<Item, Result>[], error: unknown): Promise<void> {
    if (batch.length === 1 || error instanceof StoreUnavailable) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const { item, resolve, reject } of batch) {
      try {
        const [result] = await this.#run([item]);
        resolve(result as Result);
      } catch (itemError) {
        reject(itemError);
      }
    }
  }
}

/** The store as operations use it: one query or one command at a time. */
export class BatchedStore {
  readonly #reads: Batcher<Query, QueryResult>;
  readonly #writes: Batcher<Command, CommandResult>;

  constructor(store: Store, limits: { read: BatchLimits; write: BatchLimits }) {
    this.#reads = new Batcher((queries) => store.read(queries), limits.read);
    this.#writes = new Batcher((commands) => store.write(commands), limits.write);
  }

  read<Kind extends QueryKind>(query: Query<Kind>): Promise<QueryResult<Kind>> {
    return this.#reads.submit(query as Query) as Promise<QueryResult<Kind>>;
  }

  write<Kind extends CommandKind>(command: Command<Kind>): Promise<CommandResult<Kind>> {
    return this.#writes.submit(command as Command) as Promise<CommandResult<Kind>>;
  }
}
