// The clock of the service, the same in all threads of a process. A test may set it.

const AHEAD = 0;
const FIXED = 1;

export class SharedClock {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Float64Array;

  constructor(memory = new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#numbers = new Float64Array(memory);
  }

  /** Milliseconds since 1970. */
  readonly now = (): number => (this.#numbers[FIXED]! || Date.now()) + this.#numbers[AHEAD]!;

  /** Milliseconds by which the clock is ahead of the machine's. */
  get aheadMs(): number {
    return this.#numbers[AHEAD]!;
  }

  set aheadMs(ms: number) {
    this.#numbers[AHEAD] = ms;
  }

  /** Replaces the time of the machine; 0 lets it pass again. */
  set fixedAt(ms: number) {
    this.#numbers[FIXED] = ms;
  }
}
