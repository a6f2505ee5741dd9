// Time for which threads had work and no processor, as on a busy machine.

import { readFileSync } from 'node:fs';

/** Runs of work whose result a busy machine may delay too long. */
const MAX_RUNS = 3;
/** Part of the time for which the main thread of this process waits on a busy machine. */
const BUSY_SHARE = 0.05;

/**
 * Returns the time for which the main threads of the process and of this one had work and no processor: a response is
 * later by that, and by as much in the other threads.
 */
export function starvedMs(processId: number): number {
  return threadStarvedMs(processId) + threadStarvedMs(process.pid);
}

/** Returns the same of one thread; the id of a process is that of its main thread. */
export function threadStarvedMs(id: number | string): number {
  if (process.platform !== 'linux') return 0;
  try {
    return Number(readFileSync(`/proc/${id}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000;
  } catch {
    // The thread has ended, or the kernel does not count.
    return 0;
  }
}

/** Starts a stopwatch, which does not count the time in which this process waits for a processor. */
export function startStopwatch(): () => number {
  const [startedAt, before] = [performance.now(), threadStarvedMs(process.pid)];
  return () => performance.now() - startedAt - (threadStarvedMs(process.pid) - before);
}

/** Returns the result of the work; repeats it while it is delayed because this process waited for a processor. */
export async function unlessStarved<Result>(
  work: () => Promise<Result>,
  isDelayed: (result: Result) => boolean,
): Promise<Result> {
  for (let run = 1; ; run++) {
    const [startedAt, before] = [performance.now(), threadStarvedMs(process.pid)];
    const result = await work();
    if (!isDelayed(result) || run === MAX_RUNS) return result;
    const starvedShare = (threadStarvedMs(process.pid) - before) / (performance.now() - startedAt);
    if (starvedShare < BUSY_SHARE) return result;
  }
}
