// Commands that arrive together travel together: what is submitted in one turn of the event loop runs as one
// statement or one transaction. A lone command is a batch of one and leaves in the same turn.

import { isDeepStrictEqual } from 'node:util';
import { Problem } from '../problem.ts';
import { settledBy } from './deadline.ts';
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
  /**
   * A batch leaves beside others where these take longer than this. Before, it is better off waiting for them: what
   * comes meanwhile makes it larger, and a larger batch costs less a command.
   */
  patienceMs: number;
  /** Commands that wait for a batch; one more is refused as `overloaded`. */
  maxQueued: number;
}

interface Waiting<Item, Result> {
  item: Item;
  startBy: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** How often commands that have waited too long are looked for. */
const SWEEP_MS = 100;

class Batcher<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]> | Result[];
  readonly #limits: BatchLimits;
  #waiting: Waiting<Item, Result>[] = [];
  #inFlight = 0;
  #leaving: NodeJS.Immediate | NodeJS.Timeout | null = null;
  #sweeper: NodeJS.Timeout | null = null;

  constructor(run: (items: Item[]) => Promise<Result[]> | Result[], limits: BatchLimits) {
    this.#run = run;
    this.#limits = limits;
  }

  /** Rejects with `StoreUnavailable` where the item cannot be begun with by then. */
  submit(item: Item, startBy: number): Promise<Result> {
    if (this.#waiting.length >= this.#limits.maxQueued) {
      return Promise.reject(
        new Problem('overloaded', 'Too many requests wait for the database. Try again shortly.', {
          retryAfterSeconds: 1,
        }),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, startBy, resolve, reject });
      this.#schedule();
      this.#sweeper ??= setTimeout(() => this.#sweep(), SWEEP_MS).unref();
    });
  }

  #sweep(): void {
    this.#waiting = inTime(this.#waiting);
    this.#sweeper = this.#waiting.length === 0 ? null : setTimeout(() => this.#sweep(), SWEEP_MS).unref();
  }

  #schedule(): void {
    if (this.#waiting.length === 0 || this.#leaving !== null) return;
    if (this.#inFlight === 0) {
      // After the sockets of this turn have been read, and before the loop waits for more.
      this.#leaving = setImmediate(() => this.#leave());
    } else if (this.#inFlight < this.#limits.maxInFlight) {
      this.#leaving = setTimeout(() => this.#leave(), this.#limits.patienceMs);
    }
  }

  #leave(): void {
    clearImmediate(this.#leaving as NodeJS.Immediate);
    clearTimeout(this.#leaving as NodeJS.Timeout);
    this.#leaving = null;
    const batch = inTime(this.#waiting.splice(0, this.#limits.maxBatch));
    if (batch.length > 0) void this.#runBatch(batch);
    this.#schedule();
  }

  async #runBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    this.#inFlight++;
    try {
      const running = this.#run(batch.map(({ item }) => item));
      // An adapter that answers at once saves a turn of the microtask queue.
      const results = running instanceof Promise ? await running : running;
      this.#arrive();
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      await this.#runSingly(batch, error);
      this.#arrive();
    }
  }

  /** The next batch is on its way while the answers to this one are made. */
  #arrive(): void {
    this.#inFlight--;
    if (this.#waiting.length > 0) this.#leave();
  }

  /** One bad command must not fail its neighbours. */
  async #runSingly(batch: Waiting<Item, Result>[], error: unknown): Promise<void> {
    if (batch.length === 1 || error instanceof StoreUnavailable) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const { item, startBy, resolve, reject } of batch) {
      try {
        if (startBy < performance.now()) throw tooLate();
        const [result] = await this.#run([item]);
        resolve(result as Result);
      } catch (itemError) {
        reject(itemError);
      }
    }
  }
}

/** Those that may still be begun with; the others are told. */
function inTime<Item, Result>(waiting: Waiting<Item, Result>[]): Waiting<Item, Result>[] {
  const now = performance.now();
  return waiting.filter(({ startBy, reject }) => {
    if (startBy < now) reject(tooLate());
    return startBy >= now;
  });
}

function tooLate(): StoreUnavailable {
  return new StoreUnavailable('the database has not come to it in time');
}

interface Batchers {
  reads: Batcher<Query, QueryResult>;
  writes: Batcher<Command, CommandResult>;
}

/** The store as operations use it: one query or one command at a time. */
export class BatchedStore {
  readonly #batchers: Batchers;
  readonly #startBy: number;
  #foreseen: { query: Query; answer: Promise<QueryResult> } | null = null;

  static of(store: Store, limits: { read: BatchLimits; write: BatchLimits }): BatchedStore {
    const reads = new Batcher((queries: Query[]) => store.read(queries), limits.read);
    const writes = new Batcher((commands: Command[]) => store.write(commands), limits.write);
    return new BatchedStore({ reads, writes }, Number.POSITIVE_INFINITY);
  }

  private constructor(batchers: Batchers, startBy: number) {
    this.#batchers = batchers;
    this.#startBy = startBy;
  }

  /**
   * The same store for one request: what it has not begun with by then it never does, and throws `StoreUnavailable`.
   * How long it may take with what it has begun is the adapter's to limit: a command that runs on when its caller has
   * been told that it failed could undo what was acknowledged since.
   */
  until(startBy: number): BatchedStore {
    return new BatchedStore(this.#batchers, startBy);
  }

  /** As the promise, where it settles before it is too late. */
  inTime<Result>(promise: Promise<Result>): Promise<Result> {
    return this.#startBy === Number.POSITIVE_INFINITY ? promise : settledBy(this.#startBy, promise, tooLate);
  }

  /** Asks what this request is going to ask: the first `read` of the same query has the answer to this one. */
  foresee(query: Query): void {
    const answer = this.read(query);
    // Nobody may ever ask.
    answer.catch(() => {});
    this.#foreseen = { query, answer };
  }

  read<Kind extends QueryKind>(query: Query<Kind>): Promise<QueryResult<Kind>> {
    const foreseen = this.#foreseen;
    if (foreseen?.query.kind === query.kind && isDeepStrictEqual(foreseen.query, query)) {
      this.#foreseen = null;
      return foreseen.answer as Promise<QueryResult<Kind>>;
    }
    return this.#batchers.reads.submit(query as Query, this.#startBy) as Promise<QueryResult<Kind>>;
  }

  write<Kind extends CommandKind>(command: Command<Kind>): Promise<CommandResult<Kind>> {
    return this.#batchers.writes.submit(command as Command, this.#startBy) as Promise<CommandResult<Kind>>;
  }
}
