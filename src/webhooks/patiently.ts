import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../store/port.ts';

/** Maximum of the first pause. */
const FIRST_PAUSE_MS = 100;
/** Short, because a new event does not end a pause: a process that was suspended would send it later. */
const MAX_PAUSE_MS = 250;

interface Patience {
  /** When to give up (`performance.now()`). */
  deadline?: number;
  /** Ends the repetitions. */
  signal?: AbortSignal;
}

/** Repeats work that the database fails, after random pauses that grow, so that many do not return all at once. */
export async function patiently<Result>(
  work: () => Promise<Result>,
  { deadline = Number.POSITIVE_INFINITY, signal }: Patience,
): Promise<Result> {
  for (let maxPauseMs = FIRST_PAUSE_MS; ; maxPauseMs = Math.min(2 * maxPauseMs, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      const pauseMs = maxPauseMs * (0.5 + 0.5 * Math.random());
      const isLate = performance.now() + pauseMs >= deadline;
      if (!(error instanceof StoreUnavailable) || isLate || signal?.aborted) throw error;
      // This timer does not keep a stopping process alive.
      await sleep(pauseMs, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});
    }
  }
}
