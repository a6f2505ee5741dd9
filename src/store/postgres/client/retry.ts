// Retries transient failures, bounded in number and time, with jitter for conflicts.

import { setTimeout as sleep } from 'node:timers/promises';
import { TransientError } from './errors.ts';

interface RetryPolicy {
  attempts: number;
  /** The share of the total time that must be left for another attempt. */
  minRemainingShare: number;
  pauseMs: () => number;
}

const policies = {
  /** Random pauses keep the transactions from colliding again. PostgreSQL detects a deadlock after a second. */
  conflict: { attempts: 6, minRemainingShare: 1 / 5, pauseMs: () => Math.random() * 50 },
  /** Each attempt opens another connection: at most ten per second for each writer. */
  readOnly: { attempts: 3, minRemainingShare: 3 / 5, pauseMs: () => 100 },
  loss: { attempts: 2, minRemainingShare: 3 / 5, pauseMs: () => 0 },
} as const satisfies Record<string, RetryPolicy>;

export interface Attempt {
  /** When to give up. */
  deadline: number;
  /** Whether an earlier attempt may have been applied. */
  isRepetition: boolean;
}

interface RetryOptions {
  isRepeatable: boolean;
  /** Time limit of all attempts together. */
  totalTimeoutMs: number;
}

/** Retries if nothing was applied, or if the work `isRepeatable`. */
export async function retry<Result>(
  work: (attempt: Attempt) => Promise<Result>,
  { isRepeatable, totalTimeoutMs }: RetryOptions,
): Promise<Result> {
  const deadline = performance.now() + totalTimeoutMs;
  const failures = new Map<RetryPolicy, number>();
  let isRepetition = false;
  for (;;) {
    try {
      return await work({ deadline, isRepetition });
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
      if (error.outcome === 'unknown' && !isRepeatable) throw error;
      isRepetition ||= error.outcome === 'unknown';
      const policy = policyFor(error);
      const times = (failures.get(policy) ?? 0) + 1;
      failures.set(policy, times);
      if (
        times === policy.attempts ||
        deadline - performance.now() < policy.minRemainingShare * totalTimeoutMs
      )
        throw error;
      const pauseMs = policy.pauseMs();
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }
}

function policyFor({ outcome, isReadOnly }: TransientError): RetryPolicy {
  if (outcome === 'conflict') return policies.conflict;
  return isReadOnly ? policies.readOnly : policies.loss;
}
