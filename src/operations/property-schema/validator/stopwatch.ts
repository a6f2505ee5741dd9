// Bounds the processor time of one piece of work in this thread. The time of a clock would include pauses of the thread,
// which are not the fault of the schema.

import { cpuMs } from '../../../system/cpu-time.ts';

/** Steps between two looks at the clock, which takes as long as a short step. */
const STEPS = 8;

export class TimeExceeded extends Error {
  override readonly name = 'TimeExceeded';
}

export class Stopwatch {
  #startedAt = 0;
  #limitMs = 0;
  /** No earlier than this the limit can be exceeded, by `performance.now()`, which is cheaper than the processor time. */
  #lookAt = 0;
  #steps = 0;

  start(limitMs: number): void {
    this.#startedAt = cpuMs();
    this.#limitMs = limitMs;
    this.#lookAt = performance.now() + limitMs;
  }

  /** Called at every step of the work. Throws `TimeExceeded`. */
  readonly step = (): void => {
    this.#steps = (this.#steps + 1) % STEPS;
    if (this.#steps === 0 && performance.now() >= this.#lookAt) this.check();
  };

  /** For work without steps. Throws `TimeExceeded`. */
  check(): void {
    const leftMs = this.#limitMs - this.spentMs;
    if (leftMs <= 0) throw new TimeExceeded();
    this.#lookAt = performance.now() + leftMs;
  }

  get spentMs(): number {
    return cpuMs() - this.#startedAt;
  }
}
