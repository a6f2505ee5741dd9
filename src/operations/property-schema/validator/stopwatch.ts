// Bounds the processor time of one piece of work in this thread. Wall-clock time would include pauses of the
// thread, which are not the schema's fault.

import { cpuMs } from '../../../system/cpu-time.ts';

/** Number of steps between two looks at the clock, each of which takes as long as a short step. */
const STEPS = 8;

export class TimeExceeded extends Error {
  override readonly name = 'TimeExceeded';
}

export class Stopwatch {
  #startedAt = 0;
  #limitMs = 0;
  /**
   * Earliest time at which the limit can be exceeded, by `performance.now()`, which is cheaper than reading
   * the processor time.
   */
  #lookAt = 0;
  #steps = 0;

  start(limitMs: number): void {
    this.#startedAt = cpuMs();
    this.#limitMs = limitMs;
    this.#lookAt = performance.now() + limitMs;
  }

  /** Call it at every step of the work. Throws `TimeExceeded`. */
  readonly step = (): void => {
    this.#steps = (this.#steps + 1) % STEPS;
    if (this.#steps === 0 && performance.now() >= this.#lookAt) this.check();
  };

  /** Call it after work without steps. Throws `TimeExceeded`. */
  check(): void {
    const leftMs = this.#limitMs - this.spentMs;
    if (leftMs <= 0) throw new TimeExceeded();
    this.#lookAt = performance.now() + leftMs;
  }

  get spentMs(): number {
    return cpuMs() - this.#startedAt;
  }
}
