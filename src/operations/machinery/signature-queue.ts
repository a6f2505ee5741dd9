// Limits the number of slow signatures and new signing keys, which are made in the thread pool, that a process
// makes at the same time. Otherwise, a tenant that mints tokens would occupy every processor and leave a fraction
// of one to the event loop, which serves all others. Tenants take turns.

import { availableParallelism } from 'node:os';
import type { Problem } from '../../problem.ts';
import { FairQueue } from '../../scheduling/fair-queue.ts';
import { tooBusy } from '../refusals.ts';

/** Number of threads in Node's pool; one stays free for name lookups and files. */
const POOL_THREADS = 4;
/** One thread, and one processor for the event loop, stay free. */
const MAX_RUNNING = Math.max(1, Math.min(POOL_THREADS, availableParallelism()) - 1);
/** Maximum wait: a request that waits longer could not be answered in time. */
const MAX_WAIT_MS = 1_500;

/** Shared, because under overload capturing a stack trace for each request is too expensive. */
const OVERLOADED = tooBusy('Too many signatures and signing keys are waiting to be made. Retry later.');

interface Waiting {
  queuedAt: number;
  start: () => void;
  reject: (problem: Problem) => void;
}

export class SignatureQueue {
  readonly #waiting = new FairQueue<Waiting>();
  readonly #maxRunning: number;
  #running = 0;

  /** Creates the queue of one of the serving threads of this process, which divide the pool among them. */
  static of(threads: number): SignatureQueue {
    return new SignatureQueue(Math.max(1, Math.floor(MAX_RUNNING / threads)));
  }

  constructor(maxRunning = MAX_RUNNING) {
    this.#maxRunning = maxRunning;
  }

  /**
   * Runs `sign` when it is the tenant's turn; `tenant` is a workspace id. Throws `overloaded` if that takes
   * too long.
   */
  async run<Signed>(tenant: number, sign: () => Promise<Signed>): Promise<Signed> {
    if (this.#running < this.#maxRunning) this.#running++;
    else
      await new Promise<void>((start, reject) => {
        this.#waiting.push(tenant, { queuedAt: performance.now(), start, reject });
      });
    try {
      return await sign();
    } finally {
      this.#next();
    }
  }

  /** Passes the turn to the next request that can still be answered in time. */
  #next(): void {
    const oldest = performance.now() - MAX_WAIT_MS;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.queuedAt >= oldest) {
        next.start();
        return;
      }
      next.reject(OVERLOADED);
    }
    this.#running--;
  }
}
