// Cooperative scheduling of CPU work: parsing, merging and comparing documents. Each turn of the event loop has a budget
// in bytes; work beyond it waits for a later turn, so that sockets, timers and other requests run in between.

import { Problem } from '../problem.ts';
import { StartedTooLate } from '../store/port.ts';

/** The most expensive 64 KiB take 3 to 5 ms. The most expensive body, 256 KiB in a turn of its own, takes 10 to 20 ms. */
export const TURN_BYTES = 65_536;
/** Work up to this size does not wait behind larger work. */
export const SMALL_BYTES = 16_384;
/** JSON that takes as long as one step of a request with a large body: reading its head, or refusing it. */
export const STEP_BYTES = 4_096;

/**
 * Turns without large work after each piece of it: the event loop accepts one connection per turn. An empty turn takes 10
 * microseconds.
 */
const FREE_TURNS = 32;
/** Work that no query follows may start this much later. */
export const GRACE_MS = 1_600;

/** How long a request may take until it sends its last query. */
const REQUEST_MS = 1_500;

interface Waiting {
  bytes: number;
  startBy: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Shared: under overload, capturing a stack trace for each request is too expensive. */
const OVERLOADED = new Problem(
  'overloaded',
  'Too many large requests are waiting for the CPU. Retry later.',
  {
    retryAfterSeconds: 1,
  },
);

class Scheduler {
  readonly #small: Waiting[] = [];
  readonly #large: Waiting[] = [];
  /** Since the budget was last exceeded, across turns: resetting it every turn would cost more. */
  #spentBytes = 0;
  /** Turns until the next large work. */
  #freeTurns = 0;
  #isRunning = false;
  #waitedAt = Number.NEGATIVE_INFINITY;

  get hasWaited(): boolean {
    return performance.now() - this.#waitedAt < REQUEST_MS;
  }

  get waiting(): number {
    return this.#small.length + this.#large.length;
  }

  schedule(bytes: number, startBy: number): Promise<void> | undefined {
    if (bytes === 0) return undefined;
    const isSmall = bytes <= SMALL_BYTES;
    if (this.#spentBytes + bytes <= TURN_BYTES && (isSmall || !this.#isRunning)) {
      this.#spentBytes += bytes;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      insert(isSmall ? this.#small : this.#large, { bytes, startBy, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      setImmediate(() => this.#next());
    });
  }

  #next(): void {
    this.#spentBytes = 0;
    if (this.#freeTurns > 0) this.#freeTurns--;
    else if (this.#start(this.#large)) this.#freeTurns = FREE_TURNS;
    while (this.#start(this.#small));
    const { waiting } = this;
    if (waiting > 0) this.#waitedAt = performance.now();
    this.#isRunning = waiting + this.#freeTurns > 0;
    if (this.#isRunning) setImmediate(() => this.#next());
  }

  /** Starts the first that still has time. Returns false if there is none, or if rejections have used up the turn. */
  #start(queue: Waiting[]): boolean {
    while (this.#spentBytes < TURN_BYTES) {
      const next = queue.shift();
      if (next === undefined) return false;
      if (next.startBy < performance.now()) {
        next.reject(OVERLOADED);
        this.#spentBytes += STEP_BYTES;
        continue;
      }
      this.#spentBytes += next.bytes;
      next.resolve();
      return true;
    }
    return false;
  }
}

/**
 * Earliest deadline first: requests in progress are finished before new ones, which have the latest deadlines, are
 * started.
 */
function insert(queue: Waiting[], waiting: Waiting): void {
  let index = queue.length;
  while (index > 0 && queue[index - 1]!.startBy > waiting.startBy) index--;
  queue.splice(index, 0, waiting);
}

export class CpuQueue {
  readonly #scheduler: Scheduler;
  readonly #startBy: number;

  static create(): CpuQueue {
    return new CpuQueue(new Scheduler(), Number.POSITIVE_INFINITY);
  }

  private constructor(scheduler: Scheduler, startBy: number) {
    this.#scheduler = scheduler;
    this.#startBy = startBy;
  }

  /** How much work waits for a later turn. */
  get length(): number {
    return this.#scheduler.waiting;
  }

  /** The same queue for one request: work that cannot start by then (`performance.now()`) fails. */
  until(startBy: number): CpuQueue {
    return new CpuQueue(this.#scheduler, startBy);
  }

  /**
   * Await this before work on so many bytes of JSON; returns undefined if the budget of this turn suffices. Rejects with
   * `overloaded` if the work cannot start before the deadline plus `graceMs`.
   */
  turn(bytes: number, graceMs = 0): Promise<void> | undefined {
    return this.#scheduler.schedule(bytes, this.#startBy + graceMs);
  }

  /** Replaces an error for a missed deadline by `overloaded` if work has waited for the CPU meanwhile. */
  blame(error: unknown): unknown {
    return error instanceof StartedTooLate && this.#scheduler.hasWaited ? OVERLOADED : error;
  }
}
