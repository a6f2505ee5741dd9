// Logs requests that failed through no fault of the caller: bugs with their stack, database failures in one short line,
// with a limit on the lines per second during an outage.

import type { Logger } from 'pino';
import type { Problem } from '../problem.ts';
import { StoreUnavailable } from '../store/port.ts';
import { statusOf } from './problem.ts';

const MAX_OUTAGE_LINES_PER_SECOND = 10;
const MAX_REFUSAL_LINES_PER_SECOND = 100;

export type ProblemLog = (problem: Problem, requestId: string) => void;

export function problemLog(log: Logger): ProblemLog {
  const outage = new LineLimit(MAX_OUTAGE_LINES_PER_SECOND);
  const refusals = new LineLimit(MAX_REFUSAL_LINES_PER_SECOND);
  return (problem, requestId) => {
    const { code, cause } = problem;
    if (statusOf(problem) < 500) return;
    if (code === 'overloaded' || code === 'shutting_down') {
      const unlogged = refusals.next();
      if (unlogged === null) return;
      log.warn({ requestId, code, ...(unlogged > 0 && { unlogged }) }, problem.message);
    } else if (cause instanceof StoreUnavailable) {
      const unlogged = outage.next();
      if (unlogged === null) return;
      log.error(
        { requestId, code, reason: cause.message, ...(unlogged > 0 && { unlogged }) },
        problem.message,
      );
    } else {
      log.error({ requestId, code, err: cause ?? problem }, problem.message);
    }
  };
}

class LineLimit {
  readonly #maxLines: number;
  #second = 0;
  #lines = 0;
  #unlogged = 0;

  constructor(maxLines: number) {
    this.#maxLines = maxLines;
  }

  /** Returns how many lines were suppressed before this one; null if this one is suppressed too. */
  next(): number | null {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) [this.#second, this.#lines] = [second, 0];
    if (this.#lines === this.#maxLines) {
      this.#unlogged++;
      return null;
    }
    this.#lines++;
    const unlogged = this.#unlogged;
    this.#unlogged = 0;
    return unlogged;
  }
}
