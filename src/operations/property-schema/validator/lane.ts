// A lane: threads, and the checks that wait for them.

import { type Queued, TenantQueue } from './tenant-queue.ts';
import type { ThreadLimits } from './thread.ts';
import { type Check, type Outcome, ValidatorThread } from './validator-thread.ts';

const OVERLOADED = { overloaded: true, spentMs: 0 } as const;

interface Waiting extends Queued {
  check: Check;
  resolve: (outcome: Outcome) => void;
}

interface LaneOptions {
  limits: ThreadLimits;
  /** The others serve while one of them is busy or is being replaced. */
  threads: number;
  /** Whether the check may use the lane, asked when it could start: earlier ones of its tenant may have taken too long. */
  admits?: (check: Check) => boolean;
  /** Called before the next check of the tenant can start. */
  onSpent?: (check: Check, outcome: Outcome) => void;
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #queue = new TenantQueue<Waiting>();
  /** Started with the first check, one after the other: starting all of them together would delay the first. */
  readonly #threads = new Set<ValidatorThread>();
  /** The one that was used last is at the end: it has the schemas. */
  readonly #idle: ValidatorThread[] = [];
  /** Tenants whose checks are running: one that waits for its own occupies no second thread. */
  readonly #running = new Set<number>();
  #isStarting = false;
  #isClosed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** A check that the lane does not admit is stalled; one that cannot start in time is overloaded. */
  run(check: Check, { isLast, startBy }: Omit<Queued, 'tenant'>): Promise<Outcome> {
    return new Promise((resolve) => {
      const { tenant } = check;
      if (!this.#queue.add({ tenant, isLast, startBy, check, resolve })) return resolve(OVERLOADED);
      this.#startNext();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#threads, (thread) => thread.end()));
  }

  #startNext(): void {
    for (const { resolve } of this.#queue.takeLate()) resolve(OVERLOADED);
    this.#startThread();
    while (this.#idle.length > 0) {
      const next = this.#queue.take((tenant) => !this.#running.has(tenant));
      if (next === undefined) return;
      if (this.#options.admits?.(next.check) ?? true) void this.#serve(this.#idle.pop()!, next);
      else next.resolve({ stalled: true, spentMs: 0 });
    }
  }

  #startThread(): void {
    if (this.#isStarting || this.#isClosed || this.#threads.size === this.#options.threads) return;
    this.#isStarting = true;
    const thread = this.#newThread();
    void thread.ready.then(() => {
      this.#isStarting = false;
      // Otherwise, the next check would fail instead of starting another, or of waiting for one that works.
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
    if ('exceeded' in outcome && outcome.exceeded === 'memory') {
      // The memory may have been that of the schemas of other tenants.
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
