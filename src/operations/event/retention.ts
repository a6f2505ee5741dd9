// Deletes old events, webhook deliveries and usage in the background.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/instant.ts';
import { toDay } from '../../domain/usage.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { findOldestEvent, hasOld, hasUsageOn, type Purged, purgeEvents, scrub } from './purge.ts';

/** Pause between batches, which then take at most a few per cent of the capacity of the database. */
const PAUSE_MS = 100;
/** Delay of the first run, because a starting process is busy. */
const FIRST_RUN_MS = MINUTE_MS;
/** Interval between runs. Processes start at different times, so their runs rarely coincide. */
const INTERVAL_MS = HOUR_MS;
/** Delay after a failure. */
const RETRY_MS = 5 * MINUTE_MS;
/**
 * Time for which the clock must run steadily to be trusted: a clock that is ahead, as on a machine that has
 * just started, is usually corrected sooner.
 */
const STEADY_MS = DAY_MS;
/**
 * Age of a day whose usage confirms the clock: a clock that has been ahead for less than `STEADY_MS` has
 * counted no usage on such a day.
 */
const CONFIRMED_MS = 2 * DAY_MS;

interface RetentionOptions {
  store: BatchingStore;
  clock: () => number;
  retentionDays: number;
  onFailure: (error: unknown) => void;
  /** Called if nothing was deleted because nothing confirms the clock. */
  onDoubtfulClock: () => void;
  /** Clock that does not change when the system clock is set. */
  monotonicMs?: () => number;
}

export class EventRetention {
  readonly #options: RetentionOptions;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<unknown> = Promise.resolve();
  #isFailing = false;
  /**
   * Since when (by `monotonicMs`) the clock has not been set by more than a day, and its offset from
   * `monotonicMs`.
   */
  #steady: { sinceMs: number; offsetMs: number } | null = null;
  /** Undefined until first looked up; null without events. */
  #oldestAt: number | null | undefined;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(FIRST_RUN_MS);
  }

  /** Resolves when the current batch is done. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  /** Whether the last run failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** How long ago the oldest event should have been deleted, in milliseconds; NaN until first looked up. */
  get lagMs(): number {
    if (this.#oldestAt === undefined) return Number.NaN;
    return this.#oldestAt === null ? 0 : Math.max(0, this.#beforeAt(this.#options.clock()) - this.#oldestAt);
  }

  /**
   * Deletes the rows of each environment that are older than the retention. Reports and rethrows a failure.
   */
  run(): Promise<Purged> {
    return this.#report(() => this.#purge(this.#options.clock()));
  }

  /** Runs only if the clock is confirmed not to be ahead; otherwise deletes nothing and returns null. */
  runIfClockIsConfirmed(): Promise<Purged | null> {
    return this.#report(async () => {
      const now = this.#options.clock();
      if (await this.#isConfirmed(now)) return this.#purge(now);
      await this.#measure();
      this.#options.onDoubtfulClock();
      // Values that are deleted already, such as those of a deleted user group, need no clock.
      await scrub({ store: this.#options.store, signal: this.#stopped.signal });
      return null;
    });
  }

  #report<Result>(work: () => Promise<Result>): Promise<Result> {
    const running = work();
    this.#running = running.then(
      () => {
        this.#isFailing = false;
      },
      (error: unknown) => {
        this.#isFailing = true;
        this.#options.onFailure(error);
      },
    );
    return running;
  }

  /**
   * Deleting by a clock that is ahead would lose recent data. Usage of tokens, or enough time, proves that
   * the clock is right.
   */
  async #isConfirmed(now: number): Promise<boolean> {
    const { store, retentionDays } = this.#options;
    const { signal } = this.#stopped;
    if (this.#isSteady(now) || retentionDays === 0) return true;
    if (!(await hasOld({ store, now, before: this.#beforeAt(now), signal }))) return true;
    return hasUsageOn(store, toDay(now - CONFIRMED_MS), signal);
  }

  /** Whether this process has seen the clock run for long enough. */
  #isSteady(now: number): boolean {
    const { monotonicMs = () => performance.now() } = this.#options;
    const nowMs = monotonicMs();
    const offsetMs = now - nowMs;
    if (this.#steady === null || Math.abs(offsetMs - this.#steady.offsetMs) > DAY_MS)
      this.#steady = { sinceMs: nowMs, offsetMs };
    return nowMs - this.#steady.sinceMs >= STEADY_MS;
  }

  async #purge(now: number): Promise<Purged> {
    const { store } = this.#options;
    const { signal } = this.#stopped;
    await this.#measure();
    const purged = await purgeEvents({ store, now, before: this.#beforeAt(now), pauseMs: PAUSE_MS, signal });
    await this.#measure();
    return purged;
  }

  /** Returns the instant before which events are deleted. */
  #beforeAt(now: number): number {
    return now - this.#options.retentionDays * DAY_MS;
  }

  async #measure(): Promise<void> {
    this.#oldestAt = await findOldestEvent(this.#options.store, this.#stopped.signal);
  }

  #schedule(delayMs: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#timer = setTimeout(() => {
      void this.runIfClockIsConfirmed().then(
        () => this.#schedule(INTERVAL_MS),
        () => this.#schedule(RETRY_MS),
      );
    }, delayMs).unref();
  }
}
