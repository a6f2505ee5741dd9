// Commands that arrive together travel together: what is submitted in one turn of the event loop runs as one
// statement or one transaction. A lone command is a batch of one and leaves in the same turn.

import { isSameAddress } from '../domain/token.ts';
import { isSameKey } from '../domain/user-group.ts';
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
  /** Commands that wait for a batch; with so many no new work is let in. */
  maxQueued: number;
  /**
   * Whether there is other work, that must not wait for two of these batches in a row. They leave in turns of their
   * own, and while there is other work it has as much time between two of them as the last one took to be answered.
   */
  hasOtherWork?: () => boolean;
}

interface Waiting<Item, Result> {
  item: Item;
  since: number;
  startBy: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** How often commands that have waited too long are looked for. */
const SWEEP_MS = 100;
/** Where one more would wait for longer, no new work is let in: a longer queue serves nobody sooner. */
const MAX_WAIT_MS = 100;
/** A page takes as long as hundreds of look-ups, and who reads a list is no viewer who waits. */
const MAX_LIST_WAIT_MS = 500;
/** For those that are in already, and have waited to read: it is too late to turn them away. */
const MAX_WRITE_WAIT_MS = 500;
/** A wait that nobody notices. */
const QUICK_MS = 20;
const NEWEST_SHARE = 1 / 4;

class Batcher<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]> | Result[];
  readonly #limits: BatchLimits;
  #waiting: Waiting<Item, Result>[] = [];
  #inFlight = 0;
  /** How long a batch takes, the last ones more than those before. */
  #runMs = 0;
  #leaving: NodeJS.Immediate | NodeJS.Timeout | null = null;
  #sweeper: NodeJS.Timeout | null = null;

  constructor(run: (items: Item[]) => Promise<Result[]> | Result[], limits: BatchLimits) {
    this.#run = run;
    this.#limits = limits;
  }

  /** Whether one more would wait for longer. What the next batch takes along is no queue. */
  isLongerThan(maxWaitMs: number): boolean {
    const { maxQueued, maxBatch } = this.#limits;
    const { length } = this.#waiting;
    return length >= maxQueued || (length > maxBatch && this.#waitMs > maxWaitMs);
  }

  get isBusy(): boolean {
    return this.#inFlight > 0 || this.#waiting.length > 0;
  }

  get isQuick(): boolean {
    return this.#waitMs + this.#runMs < QUICK_MS;
  }

  /** How long one more would wait for its batch; while none ends, as long at least as the first has waited. */
  get #waitMs(): number {
    const [first] = this.#waiting;
    if (first === undefined) return 0;
    const { maxBatch, maxInFlight } = this.#limits;
    const batchesBefore = Math.floor(this.#waiting.length / maxBatch);
    return Math.max(performance.now() - first.since, (batchesBefore * this.#runMs) / maxInFlight);
  }

  /** Rejects with `StoreUnavailable` where the item cannot be begun with by then. */
  submit(item: Item, startBy: number, isUrgent = false): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = { item, since: performance.now(), startBy, resolve, reject };
      if (isUrgent) this.#waiting.unshift(waiting);
      else this.#waiting.push(waiting);
      this.#schedule();
      this.#sweeper ??= setTimeout(() => this.#sweep(), SWEEP_MS).unref();
    });
  }

  #sweep(): void {
    this.#waiting = inTime(this.#waiting);
    this.#sweeper = this.#waiting.length === 0 ? null : setTimeout(() => this.#sweep(), SWEEP_MS).unref();
  }

  #schedule(): void {
    const { maxBatch, maxInFlight, hasOtherWork } = this.#limits;
    // A turn that brings thousands takes long, and a full batch does not wait for its end.
    if (!hasOtherWork && this.#waiting.length >= maxBatch && this.#inFlight < maxInFlight) this.#leave();
    if (this.#waiting.length === 0 || this.#leaving !== null) return;
    if (this.#inFlight === 0) {
      // After the sockets of this turn have been read, and before the loop waits for more.
      this.#leaving = setImmediate(() => this.#leave());
    } else if (this.#inFlight < maxInFlight) {
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
    const startedAt = performance.now();
    try {
      const running = this.#run(batch.map(({ item }) => item));
      // An adapter that answers at once saves a turn of the microtask queue.
      const results = running instanceof Promise ? await running : running;
      this.#arrive(startedAt);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      await this.#runSingly(batch, error);
      this.#arrive(startedAt);
    }
  }

  /** The next batch is on its way while the answers to this one are made. */
  #arrive(startedAt: number): void {
    this.#inFlight--;
    this.#runMs += (performance.now() - startedAt - this.#runMs) * NEWEST_SHARE;
    const { hasOtherWork } = this.#limits;
    if (hasOtherWork) this.#rest(hasOtherWork);
    else if (this.#waiting.length > 0) this.#leave();
  }

  #rest(hasOtherWork: () => boolean): void {
    const since = performance.now();
    this.#leaving ??= setImmediate(() => {
      const restMs = hasOtherWork() ? performance.now() - since : 0;
      this.#leaving = restMs < 1 ? null : setTimeout(() => this.#leave(), restMs);
      this.#schedule();
    });
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

/** What a request asks of the store; either: it reads, and then may have to write. */
export type Work = 'read' | 'list' | 'write' | 'either';

/** They read many rows: each is a batch of its own, so that no look-up waits for more than one of them. */
const LISTS: ReadonlySet<QueryKind> = new Set<QueryKind>([
  'searchUserGroups',
  'listUserGroups',
  'countUserGroups',
  'listApiTokens',
  'listWorkspaces',
]);

/** One for all: there is no time for a stack each. */
const OVERLOADED = new Problem('overloaded', 'Too many requests wait for the database. Try again shortly.', {
  retryAfterSeconds: 1,
});

/** What one group is looked up by. */
export type Foreseeable = Query<'findUserGroup' | 'findUserGroupByToken'>;

function isSame(foreseen: Foreseeable, query: Query): boolean {
  if (foreseen.kind === 'findUserGroup') {
    return query.kind === 'findUserGroup' && isSameKey(foreseen.key, query.key);
  }
  return query.kind === 'findUserGroupByToken' && isSameAddress(foreseen.address, query.address);
}

interface Batchers {
  reads: Batcher<Query, QueryResult>;
  lists: Batcher<Query, QueryResult>;
  writes: Batcher<Command, CommandResult>;
}

/** The store as operations use it: one query or one command at a time. */
export class BatchedStore {
  readonly #batchers: Batchers;
  readonly #startBy: number;
  #foreseen: { query: Foreseeable; answer: Promise<QueryResult> } | null = null;

  static of(store: Store, limits: { read: BatchLimits; write: BatchLimits }): BatchedStore {
    const read = (queries: Query[]) => store.read(queries);
    const reads = new Batcher(read, limits.read);
    const writes = new Batcher((commands: Command[]) => store.write(commands), limits.write);
    const hasOtherWork = () => reads.isBusy || writes.isBusy;
    const lists = new Batcher(read, { ...limits.read, maxBatch: 1, hasOtherWork });
    return new BatchedStore({ reads, lists, writes }, Number.POSITIVE_INFINITY);
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

  /**
   * Asked before any work is done for a request. What is let in is not turned away later: nothing is done in vain,
   * and who is refused knows at once. Throws `overloaded`.
   */
  admit(work: Work): void {
    const { reads, lists, writes } = this.#batchers;
    if (reads.isLongerThan(MAX_WAIT_MS)) throw OVERLOADED;
    if (work === 'list' && lists.isLongerThan(MAX_LIST_WAIT_MS)) throw OVERLOADED;
    if (work === 'read' || work === 'list' || !writes.isLongerThan(MAX_WAIT_MS)) return;
    // Where reads are quick, who need not write is served while others wait to.
    if (work === 'write' || !reads.isQuick) throw OVERLOADED;
  }

  /** Asked by a request that has found out that it has to write. Throws `overloaded`. */
  admitWrite(): void {
    if (this.#batchers.writes.isLongerThan(MAX_WRITE_WAIT_MS)) throw OVERLOADED;
  }

  /** Asks what this request is going to ask: the first `read` of the same query has the answer to this one. */
  foresee(query: Foreseeable): void {
    const answer = this.read(query);
    // Nobody may ever ask.
    answer.catch(() => {});
    this.#foreseen = { query, answer };
  }

  read<Kind extends QueryKind>(query: Query<Kind>): Promise<QueryResult<Kind>> {
    const foreseen = this.#foreseen;
    if (foreseen !== null && isSame(foreseen.query, query as Query)) {
      this.#foreseen = null;
      return foreseen.answer as Promise<QueryResult<Kind>>;
    }
    const { lists, reads } = this.#batchers;
    const batcher = LISTS.has(query.kind) ? lists : reads;
    return batcher.submit(query as Query, this.#startBy) as Promise<QueryResult<Kind>>;
  }

  write<Kind extends CommandKind>(command: Command<Kind>): Promise<CommandResult<Kind>> {
    // What was asked before is not the answer any more.
    this.#foreseen = null;
    // Whatever creates waits for a lease.
    const isUrgent = command.kind === 'leaseIds';
    const { writes } = this.#batchers;
    return writes.submit(command as Command, this.#startBy, isUrgent) as Promise<CommandResult<Kind>>;
  }
}
