// A lane: threads, and the checks that wait for them.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Queued, TenantQueue } from './tenant-queue.ts';
import type { ThreadLimits } from './thread.ts';
import { type Check, type CheckOutcome, ValidatorThread } from './validator-thread.ts';

const OVERLOADED = { result: 'overloaded', spentMs: 0 } as const;
/** Maximum number of checks refused per turn of the event loop: hundreds may be late at the same time. */
const MAX_REFUSED = 32;

interface Waiting extends Queued {
  check: Check;
  resolve: (outcome: CheckOutcome) => void;
}

interface LaneOptions {
  limits: ThreadLimits;
  /** Number of threads; the others serve while one of them is busy or being replaced. */
  threads: number;
  /**
   * Whether the check may still use the lane, asked when it could start: earlier checks of its tenant may
   * have taken too long.
   */
  admits?: (check: Check) => boolean;
  /** Called with the outcome of a check before the next one of its tenant can start. */
  onSpent?: (check: Check, outcome: CheckOutcome) => void;
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #queue = new TenantQueue<Waiting>();
  /**
   * Threads, started one after the other with the first check: starting all together would delay the first.
   */
  readonly #threads = new Set<ValidatorThread>();
  /** Idle threads; the most recently used one, which has the schemas, is at the end. */
  readonly #idle: ValidatorThread[] = [];
  /** Tenants whose checks are running: a tenant never occupies a second thread. */
  readonly #running = new Set<number>();
  #isStarting = false;
  #isClosed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /**
   * Runs a check. Resolves with `stalled` if the lane does not admit it, and with `overloaded` if it cannot
   * start in time.
   */
  run(check: Check, { isLowPriority, startBy }: Omit<Queued, 'tenant'>): Promise<CheckOutcome> {
    return new Promise((resolve) => {
      const { tenant } = check;
      if (!this.#queue.add({ tenant, isLowPriority, startBy, check, resolve })) return resolve(OVERLOADED);
      this.#startNext();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#threads, (thread) => thread.end()));
  }

  #startNext(): void {
    void refuse(this.#queue.takeLate());
    this.#startThread();
    while (this.#idle.length > 0) {
      const next = this.#queue.take((tenant) => !this.#running.has(tenant));
      if (next === undefined) return;
      if (this.#options.admits?.(next.check) ?? true) void this.#serve(this.#idle.pop()!, next);
      else next.resolve({ result: 'stalled', spentMs: 0 });
    }
  }

  #startThread(): void {
    if (this.#isStarting || this.#isClosed || this.#threads.size === this.#options.threads) return;
    this.#isStarting = true;
    const thread = this.#newThread();
    void thread.ready.then(() => {
      this.#isStarting = false;
      // Keeps an ended thread only if it is the last one, to fail the checks that wait. Otherwise, the
      // next check would fail instead of starting another thread or waiting for one that works.
      const isNeeded = this.#threads.size === 1 && !this.#queue.isEmpty;
      if (thread.hasEnded && !isNeeded) return void this.#threads.delete(thread);
      this.#idle.unshift(thread);
      this.#startNext();
    });
  }

  #newThread(): ValidatorThread {
    const thread = new ValidatorThread(this.#options.limits);
    this.#threads.add(thread);
    return thread;
  }

  async #serve(thread: ValidatorThread, { check, resolve }: Waiting): Promise<void> {
    const { tenant } = check;
    this.#running.add(tenant);
    let used = thread;
    let outcome = await used.run(check);
    if (outcome.result === 'exceeded' && outcome.limit === 'memory') {
      // Repeats the check in a new thread, because schemas of other tenants may have used the memory.
      this.#threads.delete(used);
      used = this.#newThread();
      outcome = await used.run(check);
    }
    this.#running.delete(tenant);
    this.#queue.charge(tenant, outcome.spentMs);
    this.#options.onSpent?.(check, outcome);
    if (used.hasEnded) this.#threads.delete(used);
    else this.#idle.push(used);
    resolve(outcome);
    this.#startNext();
  }
}

async function refuse(late: readonly Waiting[]): Promise<void> {
  for (const [index, { resolve }] of late.entries()) {
    if (index > 0 && index % MAX_REFUSED === 0) await nextTurn();
    resolve(OVERLOADED);
  }
}
