// What is done again, and when: a trouble that passes quickly is not the caller's.

import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.ts';

interface Patience {
  attempts: number;
  /** How much must be left of the time that all attempts have. */
  leastShare: number;
  pauseMs: () => number;
}

const patience = {
  /** Those that were in each other's way must not meet again at once. PostgreSQL looks for a deadlock after a second. */
  conflict: { attempts: 6, leastShare: 1 / 5, pauseMs: () => Math.random() * 50 },
  /** Each time another connection is asked: no more than ten in a second by one who writes. */
  readOnly: { attempts: 3, leastShare: 3 / 5, pauseMs: () => 100 },
  loss: { attempts: 2, leastShare: 3 / 5, pauseMs: () => 0 },
} as const satisfies Record<string, Patience>;

interface RetryOptions {
  isRepeatable: boolean;
  /** For all attempts. */
  patienceMs: number;
}

/**
 * Tries once more where nothing has happened, or where what may have happened `isRepeatable`. An attempt is told
 * whether it is a repetition: whether one before may have happened.
 */
export async function retry<Result>(
  attempt: (deadline: number, isRepetition: boolean) => Promise<Result>,
  { isRepeatable, patienceMs }: RetryOptions,
): Promise<Result> {
  const deadline = performance.now() + patienceMs;
  const failures = new Map<Patience, number>();
  let isRepetition = false;
  for (;;) {
    try {
      return await attempt(deadline, isRepetition);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.outcome === 'unknown' && !isRepeatable) throw error;
      isRepetition ||= error.outcome === 'unknown';
      const kind = patienceWith(error);
      const times = (failures.get(kind) ?? 0) + 1;
      failures.set(kind, times);
      if (times === kind.attempts || deadline - performance.now() < kind.leastShare * patienceMs) throw error;
      const pauseMs = kind.pauseMs();
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }
}

function patienceWith({ outcome, isReadOnly }: Failure): Patience {
  if (outcome === 'conflict') return patience.conflict;
  return isReadOnly ? patience.readOnly : patience.loss;
}
