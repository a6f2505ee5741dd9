// A database that comes later than the service, or goes: it is waited for, and its operator is told.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type StoreObserver, StoreUnavailable } from './store/store.ts';

const PAUSE_MS = 500;

interface WaitOptions {
  waitMs: number;
  observer: StoreObserver;
  signal: AbortSignal;
}

/**
 * Opens the database; where it is away, again and again for so long. What cannot pass by itself,
 * such as a wrong password, is thrown at once, and everything when the signal has come.
 */
export async function untilAvailable<Opened>(
  { waitMs, observer, signal }: WaitOptions,
  open: () => Promise<Opened>,
): Promise<Opened> {
  const deadline = performance.now() + waitMs;
  let awaySince: number | null = null;
  for (;;) {
    try {
      const opened = await open();
      if (awaySince !== null) observer.back(performance.now() - awaySince);
      return opened;
    } catch (error) {
      const isPassing = error instanceof StoreUnavailable && error.passesByItself;
      if (!isPassing || signal.aborted || performance.now() + PAUSE_MS > deadline) throw error;
      if (awaySince === null) observer.unavailable(error.message);
      awaySince ??= performance.now();
      await sleep(PAUSE_MS, null, { signal });
    }
  }
}

/** An observer who writes it down. */
export function logged(log: Logger): StoreObserver {
  return {
    unavailable: (reason) => log.error({ reason }, 'the database is away'),
    back: (afterMs) => log.info({ afterMs: Math.round(afterMs) }, 'the database is back'),
  };
}
