// A lane: a thread, and the checks that wait for it.

import { Problem } from '../../../problem.ts';
import { type Queued, TenantQueue } from './tenant-queue.ts';
import type { TimeLimits } from './thread.ts';
import { type Check, type Outcome, ValidatorThread } from './validator-thread.ts';

/** Shared: under overload, capturing a stack trace for each request is too expensive. */
export const OVERLOADED = new Problem(
  'overloaded',
  'Too many properties are waiting to be checked. Retry later.',
  { retryAfterSeconds: 1 },
);

interface Waiting extends Queued {
  check: Check;
  resolve: (outcome: Outcome) => void;
  reject: (error: Error) => void;
}

/** Threads for the lanes, of which one is always started ahead: replacing a thread delays no check. */
export class SpareThread {
  #spare: ValidatorThread | null = null;
  #isClosed = false;

  take(): ValidatorThread {
    const isUsable = this.#spare !== null && !this.#spare.hasEnded;
    const taken = isUsable ? this.#spare! : new ValidatorThread();
    this.#spare = null;
    // Starting both at once would delay the first.
    void taken.ready.then(() => {
      if (!this.#isClosed) this.#spare ??= new ValidatorThread();
    });
    return taken;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#spare?.end();
  }
}

export class Lane {
  readonly #queue = new TenantQueue<Waiting>();
  readonly #limits: TimeLimits;
  readonly #spare: SpareThread;
  #thread: ValidatorThread | null = null;
  #isBusy = false;

  constructor(limits: TimeLimits, spare: SpareThread) {
    this.#limits = limits;
    this.#spare = spare;
  }

  /** Rejects with `overloaded` if the check cannot start in time. */
  run(check: Check, { isLast, startBy }: Omit<Queued, 'tenant'>): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const { tenant } = check;
      if (!this.#queue.add({ tenant, isLast, startBy, check, resolve, reject })) return reject(OVERLOADED);
      if (!this.#isBusy) void this.#serve();
    });
  }

  async close(): Promise<void> {
    await this.#thread?.end();
  }

  async #serve(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      let outcome = await this.#run(next.check);
      // The memory may have been that of the schemas of other tenants.
      if ('exceeded' in outcome && outcome.exceeded === 'memory') outcome = await this.#run(next.check);
      this.#queue.charge(next.tenant, outcome.spentMs);
      next.resolve(outcome);
    }
    this.#isBusy = false;
  }

  #run(check: Check): Promise<Outcome> {
    if (this.#thread === null || this.#thread.hasEnded) this.#thread = this.#spare.take();
    return this.#thread.run(check, this.#limits);
  }

  #next(): Waiting | undefined {
    for (const { reject } of this.#queue.takeLate()) reject(OVERLOADED);
    return this.#queue.take();
  }
}
