// Signatures that take long enough for the thread pool, of which a process makes few at a time: otherwise one tenant that
// mints tokens occupies every processor, and the event loop, which serves all others, gets a fraction of one. Tenants
// take turns.

import { availableParallelism } from 'node:os';
import type { Problem } from '../../problem.ts';
import { FairQueue } from '../../scheduling/fair-queue.ts';
import { tooBusy } from '../refusals.ts';

/** Threads that Node's pool has; one stays free, for name lookups and files. */
const POOL_THREADS = 4;
/** One processor stays free for the event loop. */
const MAX_RUNNING = Math.max(1, Math.min(POOL_THREADS, availableParallelism()) - 1);
/** A request that waits longer could not be answered in time. */
const MAX_WAIT_MS = 1_500;

/** Shared: under overload, capturing a stack trace for each request is too expensive. */
const OVERLOADED = tooBusy('Too many tokens are waiting to be signed. Retry later.');

interface Waiting {
  queuedAt: number;
  start: () => void;
  reject: (problem: Problem) => void;
}

export class SignatureQueue {
  readonly #waiting = new FairQueue<Waiting>();
  readonly #maxRunning: number;
  #running = 0;

  /** The queue of one of the serving threads of this process, which divide the pool. */
  static of(threads: number): SignatureQueue {
    return new SignatureQueue(Math.max(1, Math.floor(MAX_RUNNING / threads)));
  }

  constructor(maxRunning = MAX_RUNNING) {
    this.#maxRunning = maxRunning;
  }

  /** Runs `sign` when it is the turn of the tenant, a workspace id. Throws `overloaded` if that takes too long. */
  async run<Signed>(tenant: number, sign: () => Promise<Signed>): Promise<Signed> {
    if (this.#running >= this.#maxRunning) await this.#turn(tenant);
    else this.#running++;
    try {
      return await sign();
    } finally {
      this.#next();
    }
  }

  #turn(tenant: number): Promise<void> {
    return new Promise((start, reject) => {
      this.#waiting.push(tenant, { queuedAt: performance.now(), start, reject });
    });
  }

  /** Passes the turn on. */
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
