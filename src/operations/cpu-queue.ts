// Cooperative scheduling of CPU work: parsing, merging and comparing documents. Each turn of the event loop has a budget
// in bytes; work beyond it waits for a later turn, so that sockets, timers and other requests run in between. Tenants
// whose work waits take turns.

import { Problem } from '../problem.ts';
import { FairQueue, UNKNOWN_TENANT } from '../store/fair-queue.ts';
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
/**
 * In a busy process these turns would take hundreds of milliseconds. They end when they have taken as long as the turn
 * with the large work, which so has at most half of the time, but not before the most expensive body would be parsed.
 */
const FREE_MS = 20;
/** Work that no query follows may start this much later. */
export const GRACE_MS = 1_600;

/** How long a request may take until it sends its last query. */
const REQUEST_MS = 1_500;

interface Work {
  /** A workspace id. */
  tenant: number;
  bytes: number;
  startBy: number;
}

interface Waiting extends Work {
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Earliest deadline first: requests in progress are finished before new ones, which have the latest deadlines, are
 * started.
 */
function isDueBefore(waiting: Waiting, other: Waiting): boolean {
  return waiting.startBy < other.startBy;
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
  readonly #small = new FairQueue<Waiting>(isDueBefore);
  readonly #large = new FairQueue<Waiting>(isDueBefore);
  /** Since the budget was last exceeded, across turns: resetting it every turn would cost more. */
  #spentBytes = 0;
  /** Turns until the next large work. */
  #freeTurns = 0;
  #freeUntil = Number.NEGATIVE_INFINITY;
  /** The start of the last turn, if it had large work. */
  #largeAt: number | null = null;
  #isRunning = false;
  #waitedAt = Number.NEGATIVE_INFINITY;

  get hasWaited(): boolean {
    return performance.now() - this.#waitedAt < REQUEST_MS;
  }

  get waiting(): number {
    return this.#small.length + this.#large.length;
  }

  schedule(work: Work): Promise<void> | undefined {
    const { tenant, bytes } = work;
    if (bytes === 0) return undefined;
    const isSmall = bytes <= SMALL_BYTES;
    if (this.#spentBytes + bytes <= TURN_BYTES && (isSmall || !this.#isRunning)) {
      this.#spentBytes += bytes;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const queue = isSmall ? this.#small : this.#large;
      queue.push(tenant, { ...work, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      setImmediate(() => this.#next());
    });
  }

  #next(): void {
    this.#spentBytes = 0;
    const now = performance.now();
    if (this.#largeAt !== null) this.#freeUntil = now + Math.max(FREE_MS, now - this.#largeAt);
    this.#largeAt = null;
    if (this.#freeTurns > 0 && now < this.#freeUntil) this.#freeTurns--;
    else if (this.#start(this.#large)) {
      this.#freeTurns = FREE_TURNS;
      this.#largeAt = now;
    } else this.#freeTurns = 0;
    while (this.#start(this.#small));
    const { waiting } = this;
    if (waiting > 0) this.#waitedAt = performance.now();
    this.#isRunning = waiting + this.#freeTurns > 0;
    if (this.#isRunning) setImmediate(() => this.#next());
  }

  /** Starts the first that still has time. Returns false if there is none, or if rejections have used up the turn. */
  #start(queue: FairQueue<Waiting>): boolean {
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

export class CpuQueue {
  readonly #scheduler: Scheduler;
  readonly #startBy: number;
  /** A workspace id. */
  readonly tenant: number;

  static create(): CpuQueue {
    return new CpuQueue(new Scheduler(), Number.POSITIVE_INFINITY, UNKNOWN_TENANT);
  }

  private constructor(scheduler: Scheduler, startBy: number, tenant: number) {
    this.#scheduler = scheduler;
    this.#startBy = startBy;
    this.tenant = tenant;
  }

  /** How much work waits for a later turn. */
  get length(): number {
    return this.#scheduler.waiting;
  }

  /** The same queue for one request: work that cannot start by then (`performance.now()`) fails. */
  until(startBy: number, tenant = this.tenant): CpuQueue {
    return new CpuQueue(this.#scheduler, startBy, tenant);
  }

  /** The same queue for work of one tenant, a workspace id. */
  of(tenant: number): CpuQueue {
    return tenant === this.tenant ? this : new CpuQueue(this.#scheduler, this.#startBy, tenant);
  }

  /**
   * Await this before work on so many bytes of JSON; returns undefined if the budget of this turn suffices. Rejects with
   * `overloaded` if the work cannot start before the deadline plus `graceMs`.
   */
  turn(bytes: number, graceMs = 0): Promise<void> | undefined {
    return this.#scheduler.schedule({ tenant: this.tenant, bytes, startBy: this.#startBy + graceMs });
  }

  /** Replaces an error for a missed deadline by `overloaded` if work has waited for the CPU meanwhile. */
  blame(error: unknown): unknown {
    return error instanceof StartedTooLate && this.#scheduler.hasWaited ? OVERLOADED : error;
  }
}
