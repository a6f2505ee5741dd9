// Clean-up on exit, SIGINT, SIGTERM and SIGHUP.

import { setImmediate as nextTurn } from 'node:timers/promises';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Reactions to the signals that arrive while `finish` runs; null otherwise. */
let postponed: (() => void)[] | null = null;

/** Runs `cleanUp` once: on disposal, or earlier if a signal ends the process. */
export function onExit(cleanUp: () => void): Disposable {
  let isDone = false;
  const end = (): void => {
    if (isDone) return;
    isDone = true;
    cleanUp();
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (postponed !== null) {
      postponed.push(() => onSignal(signal));
      return;
    }
    end();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { [Symbol.dispose]: end };
}

/**
 * Postpones the clean-up and the end of the process by a signal until `work` ends, which should end early once
 * `hasSignal` returns true: for work in other threads, which a clean-up does not stop.
 */
export async function finish<Result>(work: (hasSignal: () => boolean) => Promise<Result>): Promise<Result> {
  const ends: (() => void)[] = [];
  postponed = ends;
  try {
    return await work(() => ends.length > 0);
  } finally {
    postponed = null;
    for (const end of ends) end();
  }
}

/** Lets a signal that has arrived while the event loop was blocked end the process. */
export async function deliverSignals(): Promise<void> {
  // The first ends this turn; the event loop looks for signals before the second.
  await nextTurn();
  await nextTurn();
}
