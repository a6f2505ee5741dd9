// What is done again, and when: a trouble that passes quickly is not the caller's.

import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.ts';

const MAX_ATTEMPTS = 6;
/** Those that were in each other's way must not meet again at once. */
const LONGEST_CONFLICT_PAUSE_MS = 50;
/** So often a server that takes no writes is asked by one who writes, each time on another connection. */
const READ_ONLY_PAUSE_MS = 100;
/** A failure that took longer is not tried again: the caller has waited enough. */
const QUICK_MS = 300;
/** PostgreSQL looks for a deadlock after a second; a busy one finds it later. */
const QUICK_CONFLICT_MS = 2_000;

/** Tries once more where nothing has happened, or where what may have happened `isRepeatable`. */
export async function retry<Result>(attempt: () => Promise<Result>, isRepeatable: boolean): Promise<Result> {
  const startedAt = performance.now();
  for (let attempts = 1, losses = 0; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Failure) || attempts === MAX_ATTEMPTS) throw error;
      const isConflict = error.outcome === 'conflict';
      if (performance.now() - startedAt > (isConflict ? QUICK_CONFLICT_MS : QUICK_MS)) throw error;
      if (error.outcome === 'unknown' && !isRepeatable) throw error;
      if (isConflict) await sleep(Math.random() * LONGEST_CONFLICT_PAUSE_MS);
      else if (error.isReadOnly) await sleep(READ_ONLY_PAUSE_MS);
      else if (++losses > 1) throw error;
    }
  }
}
