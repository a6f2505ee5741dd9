// Loaded into the service before it starts (`--import`): reports the duration of the longest event loop iteration.

import { renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const EVERY_MS = 1;

class LongestIteration {
  #longestMs = 0;
  #longestCpuMs = 0;
  #at = performance.now();
  #cpuMs = usedCpuMs();

  /** Must be called in every event loop iteration. */
  mark(): void {
    const [now, cpuMs] = [performance.now(), usedCpuMs()];
    this.#longestMs = Math.max(this.#longestMs, now - this.#at - EVERY_MS);
    this.#longestCpuMs = Math.max(this.#longestCpuMs, cpuMs - this.#cpuMs);
    [this.#at, this.#cpuMs] = [now, cpuMs];
  }

  reset(): { longestMs: number; longestCpuMs: number } {
    const longest = { longestMs: this.#longestMs, longestCpuMs: this.#longestCpuMs };
    [this.#longestMs, this.#longestCpuMs] = [0, 0];
    return longest;
  }
}

/** CPU time of this thread, which excludes time lost to other processes on the machine. */
function usedCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const path = process.env.RIG_EVENT_LOOP_FILE;
// The SQLite writer thread has a separate event loop, which does not delay other requests.
if (isMainThread && path !== undefined) {
  const iteration = new LongestIteration();
  setInterval(() => iteration.mark(), EVERY_MS).unref();
  // Reports the longest iteration since the last signal.
  process.on('SIGUSR2', () => {
    writeFileSync(`${path}.new`, JSON.stringify(iteration.reset()));
    renameSync(`${path}.new`, path);
  });
}
