// Commands that arrive together travel together: what is submitted in one turn of the event loop runs as one
// statement or one transaction. A lone command is a batch of one and leaves in the same turn.

import type { EventLoopUtilization } from 'node:perf_hooks';
import { StoreUnavailable } from './store.ts';

export interface BatchLimits {
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
  /** Whether the commands of a batch are of one kind. */
  isOfOneKind?: boolean;
  /**
   * For batches that others must not wait for in a row: they leave in turns of their own, one at a time, and rest for
   * so many milliseconds after one in which the event loop was active for `activeMs`.
   */
  restAfter?: (activeMs: number) => number;
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
/** A wait that nobody notices. */
const QUICK_MS = 20;
const NEWEST_SHARE = 1 / 4;

export class Batcher<Item extends { kind: unknown }, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]> | Result[];
  readonly #limits: BatchLimits;
  #waiting: Waiting<Item, Result>[] = [];
  #inFlight = 0;
  /** How long a batch takes, the last ones more than those before. */
  #runMs = 0;
  #leaving: NodeJS.Immediate | NodeJS.Timeout | null = null;
  #restUntil = 0;
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
    const { maxBatch, maxInFlight, patienceMs, restAfter } = this.#limits;
    // A turn that brings thousands takes long, and a full batch does not wait for its end.
    if (!restAfter && this.#waiting.length >= maxBatch && this.#inFlight < maxInFlight) this.#leave();
    if (this.#waiting.length === 0 || this.#leaving !== null || this.#inFlight === maxInFlight) return;
    const restMs = Math.max(this.#restUntil - performance.now(), this.#inFlight === 0 ? 0 : patienceMs);
    this.#leaving =
      restMs < 1
        ? // After the sockets of this turn have been read, and before the loop waits for more.
          setImmediate(() => this.#leave())
        : setTimeout(() => this.#leave(), restMs);
  }

  #leave(): void {
    this.#stay();
    const batch = inTime(this.#take());
    if (batch.length > 0) void this.#runBatch(batch);
    this.#schedule();
  }

  /** Those that have waited longest, or of them those that are of the first one's kind. */
  #take(): Waiting<Item, Result>[] {
    const { maxBatch, isOfOneKind } = this.#limits;
    if (!isOfOneKind) return this.#waiting.splice(0, maxBatch);
    const batch: Waiting<Item, Result>[] = [];
    const rest: Waiting<Item, Result>[] = [];
    for (const each of this.#waiting) {
      const isTaken = batch.length < maxBatch && each.item.kind === this.#waiting[0]!.item.kind;
      (isTaken ? batch : rest).push(each);
    }
    this.#waiting = rest;
    return batch;
  }

  #stay(): void {
    clearImmediate(this.#leaving as NodeJS.Immediate);
    clearTimeout(this.#leaving as NodeJS.Timeout);
    this.#leaving = null;
  }

  async #runBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    this.#inFlight++;
    const startedAt = performance.now();
    const loop = this.#limits.restAfter && performance.eventLoopUtilization();
    try {
      const running = this.#run(batch.map(({ item }) => item));
      // An adapter that answers at once saves a turn of the microtask queue.
      const results = running instanceof Promise ? await running : running;
      this.#arrive(startedAt, loop);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      await this.#runSingly(batch, error);
      this.#arrive(startedAt, loop);
    }
  }

  #arrive(startedAt: number, loop: EventLoopUtilization | undefined): void {
    this.#inFlight--;
    this.#runMs += (performance.now() - startedAt - this.#runMs) * NEWEST_SHARE;
    if (loop) this.#rest(loop);
    // The next batch is on its way while the answers to this one are made.
    else if (this.#waiting.length > 0) this.#leave();
  }

  /** `loop` is as it was before the batch; the answers are made in this turn. */
  #rest(loop: EventLoopUtilization): void {
    setImmediate(() => {
      const { active } = performance.eventLoopUtilization(loop);
      // The rest after a batch beside this one may be longer.
      this.#restUntil = Math.max(this.#restUntil, performance.now() + this.#limits.restAfter!(active));
      this.#stay();
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

export function tooLate(): StoreUnavailable {
  return new StoreUnavailable('the database has not come to it in time');
}
