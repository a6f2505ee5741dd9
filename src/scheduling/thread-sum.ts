// One number for each thread of a process, and their sum, to which the limits of the process apply.

/** Numbers in a cache line: threads that write to the same line would slow each other down. */
const STRIDE = 16;

export class ThreadSum {
  readonly #numbers: Int32Array;
  readonly #own: number;

  /** Memory for this many threads. */
  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * STRIDE * Int32Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer, thread: number) {
    this.#numbers = new Int32Array(memory);
    this.#own = thread * STRIDE;
  }

  /** The number of this thread. */
  set own(value: number) {
    Atomics.store(this.#numbers, this.#own, value);
  }

  get threads(): number {
    return this.#numbers.length / STRIDE;
  }

  get total(): number {
    let total = 0;
    for (let at = 0; at < this.#numbers.length; at += STRIDE) total += Atomics.load(this.#numbers, at);
    return total;
  }

  get ofOthers(): number {
    return this.total - Atomics.load(this.#numbers, this.#own);
  }
}
