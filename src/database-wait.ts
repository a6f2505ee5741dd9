// A database that comes later than the service, or goes: it is waited for, and its operator is told.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type StoreObserver, StoreUnavailable } from './store/store.ts';

const PAUSE_MS = 500;

interface WaitOptions {
  waitMs: number;
  observer: OutageLog;
  signal: AbortSignal;
}

/**
 * Opens the database; where it is away, again and again for so long. What cannot pass by itself, such as a wrong
 * password, is thrown at once, and everything when the signal has come.
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
      const isPassing = error instanceof StoreUnavailable && error.passesByItself;
      if (!isPassing || signal.aborted || performance.now() + PAUSE_MS > deadline) throw error;
      observer.unavailable(error.message);
      await sleep(PAUSE_MS, null, { signal });
    }
  }
}

/** Writes down once that the database is away, and once that it is back. */
export class OutageLog implements StoreObserver {
  readonly #log: Logger;
  #beganAt: number | null = null;
  #isOpen = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  unavailable(reason: string): void {
    if (this.#beganAt !== null) return;
    this.#beganAt = performance.now();
    this.#log.error({ reason }, 'the database is away');
  }

  /** From now on it is back as soon as it answers anything; to be opened takes more, such as a write. */
  opened(): void {
    this.#isOpen = true;
    this.available();
  }

  available(): void {
    if (this.#beganAt === null || !this.#isOpen) return;
    const afterMs = Math.round(performance.now() - this.#beganAt);
    this.#beganAt = null;
    this.#log.info({ afterMs }, 'the database is back');
  }
}
