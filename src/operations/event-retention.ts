// Deletes old events and webhook deliveries in the background: one small batch at a time, with pauses. Any number of
// processes may do so at once: a row is deleted once.

import type { Tenant } from '../domain/event.ts';
import type { BatchingStore } from '../store/batching-store.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Rows per batch. SQLite deletes as many in a few milliseconds. */
const BATCH = 200;
/** Between batches: at most a few per cent of the capacity of the database. */
const PAUSE_MS = 100;
/** If batches do not catch up in this time, the next run continues. */
const MAX_RUN_MS = HOUR_MS / 2;

export interface RetentionOptions {
  store: BatchingStore;
  clock: () => number;
  retentionDays: number;
  /** Between runs. Processes start at different times, so they rarely run together. */
  intervalMs?: number;
  pauseMs?: number;
}

export class EventRetention {
  readonly #options: Required<RetentionOptions>;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(options: RetentionOptions) {
    this.#options = { intervalMs: HOUR_MS, pauseMs: PAUSE_MS, ...options };
  }

  start(): void {
    // Not at once: a process that starts is busy.
    this.#timer = setTimeout(() => {
      this.#running = this.run()
        // The database is unreachable or busy; the next run tries again.
        .catch(() => {})
        .finally(() => this.#isStopped || this.start());
    }, this.#options.intervalMs).unref();
  }

  /** Returns when the current batch is done. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  /** Deletes what is older than the retention of each environment that has events. */
  async run(): Promise<void> {
    const { store, clock, retentionDays } = this.#options;
    const before = clock() - retentionDays * DAY_MS;
    const end = performance.now() + MAX_RUN_MS;
    for (
      let tenant = await this.#nextTenant(null);
      tenant !== null;
      tenant = await this.#nextTenant(tenant)
    ) {
      for (const kind of ['deleteOldDeliveries', 'deleteOldEvents'] as const) {
        for (let deleted = BATCH; deleted === BATCH && !this.#isStopped && performance.now() < end; ) {
          deleted = await store.write({ kind, of: tenant, before, limit: BATCH });
          await this.#pause();
        }
      }
    }
    // Values of deleted groups and events leave the files of the database.
    if (!this.#isStopped) await store.write({ kind: 'scrub' });
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  #nextTenant(after: Tenant | null): Promise<Tenant | null> {
    return this.#isStopped
      ? Promise.resolve(null)
      : this.#options.store.read({ kind: 'findNextTenant', after });
  }

  /** Ends early when the job is stopped. */
  #pause(): Promise<void> {
    const { signal } = this.#stopped;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(done, this.#options.pauseMs).unref();
      signal.addEventListener('abort', done, { once: true });
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      }
    });
  }
}
