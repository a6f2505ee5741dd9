// Database outages: waiting for the database at startup, and logging when it becomes unavailable and available again.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type StoreObserver, StoreUnavailable } from './store/port.ts';

const RETRY_INTERVAL_MS = 500;
const REFUSAL_LOG_INTERVAL_MS = 60_000;

interface WaitOptions {
  waitMs: number;
  observer: OutageLog;
  signal: AbortSignal;
}

/**
 * Opens the database and retries transient failures until `waitMs` have passed. Throws permanent failures, such as a
 * wrong password, immediately, and any failure once `signal` has aborted.
 */
export async function untilAvailable<Opened>(
  { waitMs, observer, signal }: WaitOptions,
  open: () => Promise<Opened>,
): Promise<Opened> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      const opened = await open();
      observer.opened();
      return opened;
    } catch (error) {
      const isTransient = error instanceof StoreUnavailable && error.isTransient;
      if (!isTransient || signal.aborted || performance.now() + RETRY_INTERVAL_MS > deadline) throw error;
      observer.unavailable(error.message);
      await sleep(RETRY_INTERVAL_MS, null, { signal });
    }
  }
}

/**
 * Logs each outage twice: when the database becomes unavailable, and when it is available again. Refused connections,
 * which announce an outage, are logged once a minute.
 */
export class OutageLog implements StoreObserver {
  readonly #log: Logger;
  #startedAt: number | null = null;
  #isOpen = false;
  #nextRefusalAt = Number.NEGATIVE_INFINITY;

  constructor(log: Logger) {
    this.#log = log;
  }

  unavailable(reason: string): void {
    if (this.#startedAt !== null) return;
    this.#startedAt = performance.now();
    this.#log.error({ reason }, 'database unavailable');
  }

  connectionRefused(reason: string): void {
    const now = performance.now();
    if (now < this.#nextRefusalAt) return;
    this.#nextRefusalAt = now + REFUSAL_LOG_INTERVAL_MS;
    this.#log.warn({ reason }, 'the database refuses further connections; the open ones serve');
  }

  /**
   * Ends the outage at startup. Until this call, `available` does not: one response does not show that
   * opening will succeed, which also writes.
   */
  opened(): void {
    this.#isOpen = true;
    this.available();
  }

  available(): void {
    if (this.#startedAt === null || !this.#isOpen) return;
    const afterMs = Math.round(performance.now() - this.#startedAt);
    this.#startedAt = null;
    this.#log.info({ afterMs }, 'database available again');
  }
}
