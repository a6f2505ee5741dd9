// Cooperative scheduling of CPU work: parsing, merging and comparing documents. Each turn of the event loop
// has a budget in bytes; work beyond it waits for a later turn, so that sockets, timers and other requests
// run in between. Tenants whose work waits take turns.

import { FairQueue, UNKNOWN_TENANT } from '../../scheduling/fair-queue.ts';
import { TenantActivity } from '../../scheduling/tenant-activity.ts';
import { StartedTooLate } from '../../store/port.ts';
import { tooBusy } from '../refusals.ts';

/** Budget of a turn: the most expensive 64 KiB of stored JSON take 3 to 5 ms. */
export const TURN_BYTES = 65_536;
/** Part of a body after which parsing pauses: the most expensive part takes 3 to 5 ms. */
export const PART_BYTES = 32_768;
/** Maximum size of work that does not wait behind larger work. */
export const SMALL_BYTES = 16_384;
/**
 * Cost of one step of a request with a large body, reading its head or refusing it, in bytes of JSON that
 * take as long.
 */
export const STEP_BYTES = 4_096;

/**
 * Number of turns without large work after each piece of it, because the event loop accepts one connection
 * per turn. An empty turn takes 10 microseconds.
 */
const FREE_TURNS = 32;
/**
 * Minimum time limit of the free turns, which in a busy process would otherwise take hundreds of
 * milliseconds. They end when they have taken as long as the turn with the large work, which therefore gets
 * at most half of the time, but not before the most expensive work would be done.
 */
const FREE_MS = 5;
/**
 * Pause of a tenant relative to the turn with its large work, while several tenants are active: such a turn
 * takes up to 5 ms, and a request of another tenant should meet at most one.
 */
const REST_FACTOR = 4;
/** Minimum pause for a timer, which counts whole milliseconds; a shorter pause is one turn. */
const MIN_PAUSE_MS = 1;
/** Additional time within which work may start if no query follows it. */
export const GRACE_MS = 1_600;

/** Maximum time until a request sends its last query. */
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
 * Orders work by deadline, earliest first: requests in progress are finished before new ones, which have the
 * latest deadlines, are started.
 */
function isDueBefore(waiting: Waiting, other: Waiting): boolean {
  return waiting.startBy < other.startBy;
}

/** Shared, because under overload capturing a stack trace for each request is too expensive. */
const OVERLOADED = tooBusy('Too many large requests are waiting for the CPU. Retry later.');

class Scheduler {
  readonly #activity: TenantActivity;
  readonly #small = new FairQueue<Waiting>(isDueBefore);
  readonly #large = new FairQueue<Waiting>(isDueBefore);
  /**
   * Bytes spent since the budget was last exceeded, across turns: resetting it every turn would cost more.
   */
  #spentBytes = 0;
  /** Number of turns until the next large work. */
  #freeTurns = 0;
  #freeUntil = Number.NEGATIVE_INFINITY;
  /** Large work of the last turn. */
  #lastLarge: { tenant: number; at: number } | null = null;
  /** Time until which each tenant starts no large work. */
  readonly #restUntil = new Map<number, number>();
  #isRunning = false;
  /** Timer that is set while the queue waits until a tenant has rested. */
  #pause: NodeJS.Timeout | null = null;
  #waitedAt = Number.NEGATIVE_INFINITY;

  constructor(activity: TenantActivity) {
    this.#activity = activity;
  }

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
      if (this.#isRunning && this.#pause === null) return;
      this.#isRunning = true;
      this.#continueAfter(0);
    });
  }

  #continueAfter(ms: number): void {
    clearTimeout(this.#pause ?? undefined);
    this.#pause = null;
    if (ms < MIN_PAUSE_MS) setImmediate(() => this.#next());
    else this.#pause = setTimeout(() => this.#continueAfter(0), ms);
  }

  #next(): void {
    this.#spentBytes = 0;
    const now = performance.now();
    this.#rest(now);
    const isFree = this.#freeTurns > 0 && now < this.#freeUntil;
    if (isFree) this.#freeTurns--;
    else this.#startLarge(now);
    while (this.#start(this.#small));
    const { waiting } = this;
    if (waiting > 0) this.#waitedAt = performance.now();
    this.#isRunning = waiting + this.#freeTurns > 0;
    if (this.#isRunning) this.#continueAfter(isFree ? 0 : this.#pauseMs(now));
  }

  /** Starts the rest of a tenant after a turn with its large work. */
  #rest(now: number): void {
    if (this.#lastLarge === null) return;
    const { tenant, at } = this.#lastLarge;
    this.#lastLarge = null;
    const tookMs = now - at;
    this.#freeUntil = now + Math.max(FREE_MS, tookMs);
    if (this.#activity.isShared) this.#restUntil.set(tenant, now + REST_FACTOR * tookMs);
  }

  #startLarge(now: number): void {
    for (const [tenant, until] of this.#restUntil) if (until <= now) this.#restUntil.delete(tenant);
    const started = this.#start(this.#large, (tenant) => !this.#restUntil.has(tenant));
    this.#freeTurns = started === null ? 0 : FREE_TURNS;
    if (started !== null) this.#lastLarge = { tenant: started.tenant, at: now };
  }

  /**
   * Returns the time until the first tenant has rested, if only large work of resting tenants waits;
   * otherwise 0.
   */
  #pauseMs(now: number): number {
    const isBusy = this.#lastLarge !== null || this.#small.length > 0 || this.#spentBytes >= TURN_BYTES;
    return isBusy ? 0 : Math.min(...this.#restUntil.values()) - now;
  }

  /**
   * Starts and returns the first work that can still start in time. Returns null if there is none, or if
   * rejections have used up the turn.
   */
  #start(queue: FairQueue<Waiting>, mayStart?: (tenant: number) => boolean): Work | null {
    while (this.#spentBytes < TURN_BYTES) {
      const next = queue.shift(mayStart);
      if (next === undefined) return null;
      if (next.startBy < performance.now()) {
        next.reject(OVERLOADED);
        this.#spentBytes += STEP_BYTES;
        continue;
      }
      this.#spentBytes += next.bytes;
      next.resolve();
      return next;
    }
    return null;
  }
}

export class CpuQueue {
  readonly #scheduler: Scheduler;
  readonly #startBy: number;
  /** A workspace id. */
  readonly tenant: number;

  static create(activity = new TenantActivity()): CpuQueue {
    return new CpuQueue(new Scheduler(activity), Number.POSITIVE_INFINITY, UNKNOWN_TENANT);
  }

  private constructor(scheduler: Scheduler, startBy: number, tenant: number) {
    this.#scheduler = scheduler;
    this.#startBy = startBy;
    this.tenant = tenant;
  }

  /** Number of pieces of work that wait for a later turn. */
  get length(): number {
    return this.#scheduler.waiting;
  }

  /**
   * Returns the same queue for one request: its work fails if it cannot start by `startBy`
   * (`performance.now()`).
   */
  until(startBy: number, tenant = this.tenant): CpuQueue {
    return new CpuQueue(this.#scheduler, startBy, tenant);
  }

  /** Returns the same queue for the work of one tenant, a workspace id. */
  forTenant(tenant: number): CpuQueue {
    return tenant === this.tenant ? this : new CpuQueue(this.#scheduler, this.#startBy, tenant);
  }

  /**
   * Waits for capacity for work on `bytes` of JSON; returns undefined if the budget of this turn suffices.
   * Rejects with `overloaded` if the work cannot start before the deadline plus `graceMs`.
   */
  turn(bytes: number, graceMs = 0): Promise<void> | undefined {
    return this.#scheduler.schedule({ tenant: this.tenant, bytes, startBy: this.#startBy + graceMs });
  }

  /**
   * Replaces the error for a missed deadline by `overloaded` if work has waited for the CPU in the meantime.
   */
  asOverloaded(error: unknown): unknown {
    return error instanceof StartedTooLate && this.#scheduler.hasWaited ? OVERLOADED : error;
  }
}
