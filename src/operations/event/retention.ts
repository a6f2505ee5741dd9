// Deletes old events and webhook deliveries in the background.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/instant.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { findOldestEvent, type Purged, purgeEvents } from './purge.ts';

/** Pause between batches: they take at most a few per cent of the capacity of the database. */
const PAUSE_MS = 100;
/** Delay of the first run: a process that starts is busy. */
const FIRST_RUN_MS = MINUTE_MS;
/** Processes start at different times, so they rarely run together. */
const INTERVAL_MS = HOUR_MS;
/** Delay after a failure. */
const RETRY_MS = 5 * MINUTE_MS;

interface RetentionOptions {
  store: BatchingStore;
  clock: () => number;
  retentionDays: number;
  onFailure: (error: unknown) => void;
}

export class EventRetention {
  readonly #options: RetentionOptions;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<unknown> = Promise.resolve();
  #isFailing = false;
  /** undefined until it was looked up; null without events. */
  #oldestAt: number | null | undefined;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(FIRST_RUN_MS);
  }

  /** Returns when the current batch is done. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  /** Whether the last run failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** For how long the oldest event should have been deleted, in milliseconds; NaN until it was looked up. */
  get lagMs(): number {
    if (this.#oldestAt === undefined) return Number.NaN;
    return this.#oldestAt === null ? 0 : Math.max(0, this.#before - this.#oldestAt);
  }

  /** Deletes the rows of each environment that are older than the retention. Reports a failure, and throws it. */
  run(): Promise<Purged> {
    const running = this.#run();
    this.#running = running.catch(() => {});
    return running;
  }

  async #run(): Promise<Purged> {
    try {
      const purged = await this.#purge();
      this.#isFailing = false;
      return purged;
    } catch (error) {
      this.#isFailing = true;
      this.#options.onFailure(error);
      throw error;
    }
  }

  async #purge(): Promise<Purged> {
    const { store } = this.#options;
    const { signal } = this.#stopped;
    await this.#measure();
    const purged = await purgeEvents({ store, before: this.#before, pauseMs: PAUSE_MS, signal });
    await this.#measure();
    return purged;
  }

  /** The instant before which events are not kept. */
  get #before(): number {
    const { clock, retentionDays } = this.#options;
    return clock() - retentionDays * DAY_MS;
  }

  async #measure(): Promise<void> {
    this.#oldestAt = await findOldestEvent(this.#options.store, this.#stopped.signal);
  }

  #schedule(delayMs: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#timer = setTimeout(() => {
      void this.run().then(
        () => this.#schedule(INTERVAL_MS),
        () => this.#schedule(RETRY_MS),
      );
    }, delayMs).unref();
  }
}
