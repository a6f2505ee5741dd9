// Counts of the last minute by key, in memory that all threads of a process share, so that a limit holds for the process.
// `rate-limiter-flexible` counts in one thread, and does not bound the number of keys.

import { createHash, randomBytes } from 'node:crypto';
import { monotonicMs } from './monotonic-ms.ts';

const WINDOW_MS = 60_000;
/** Number of entries that a key may be in. */
const WAYS = 8;
/** Numbers of an entry: key, start of its window, count. */
const ENTRY = 3;
const SALT_BYTES = 16;
const FREE = 0;
const LOCKED = 1;
const CONTENDED = 2;

interface WindowCount {
  /** Including what was added. */
  count: number;
  /** Seconds until the window of the key ends. */
  secondsLeft: number;
}

export class WindowCounts {
  readonly #lock: Int32Array;
  readonly #salt: Uint8Array;
  readonly #entries: Float64Array;
  readonly #sets: number;

  /** Memory for at least this many keys: 24 bytes each. Beyond it, the key whose window began first is forgotten. */
  static allocate(keys: number): SharedArrayBuffer {
    const entries = Math.ceil(keys / WAYS) * WAYS;
    const memory = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT * (1 + entries * ENTRY) + SALT_BYTES);
    new Uint8Array(memory, Float64Array.BYTES_PER_ELEMENT, SALT_BYTES).set(randomBytes(SALT_BYTES));
    return memory;
  }

  constructor(memory: SharedArrayBuffer) {
    this.#lock = new Int32Array(memory, 0, 1);
    this.#salt = new Uint8Array(memory, Float64Array.BYTES_PER_ELEMENT, SALT_BYTES);
    this.#entries = new Float64Array(memory, Float64Array.BYTES_PER_ELEMENT + SALT_BYTES);
    this.#sets = this.#entries.length / ENTRY / WAYS;
  }

  /** Counts `more` for the text. `nowMs` is the clock of `monotonicMs`. */
  add(text: string, more = 1, nowMs = monotonicMs()): WindowCount {
    const key = this.#hashKey(text);
    this.#acquire();
    const at = this.#find(key, nowMs);
    this.#entries[at + 2]! += more;
    const count = this.#entries[at + 2]!;
    const endsAt = this.#entries[at + 1]! + WINDOW_MS;
    this.#release();
    return { count, secondsLeft: Math.ceil((endsAt - nowMs) / 1_000) };
  }

  /** Salted hash: callers cannot choose keys that evict those of others. Never 0, the key of an unused entry. */
  #hashKey(text: string): number {
    const digest = createHash('sha256').update(this.#salt).update(text).digest();
    return digest.readUIntBE(0, 6) + 1;
  }

  /** The entry of the key, new if it has none or its window has ended. */
  #find(key: number, now: number): number {
    const entries = this.#entries;
    const first = (key % this.#sets) * WAYS * ENTRY;
    let oldest = first;
    for (let at = first; at < first + WAYS * ENTRY; at += ENTRY) {
      if (entries[at] === key) {
        if (now - entries[at + 1]! < WINDOW_MS) return at;
        oldest = at;
        break;
      }
      if (entries[at + 1]! < entries[oldest + 1]!) oldest = at;
    }
    entries[oldest] = key;
    entries[oldest + 1] = now;
    entries[oldest + 2] = 0;
    return oldest;
  }

  // Mutex 2 of Drepper, "Futexes Are Tricky".
  #acquire(): void {
    const lock = this.#lock;
    if (Atomics.compareExchange(lock, 0, FREE, LOCKED) === FREE) return;
    while (Atomics.exchange(lock, 0, CONTENDED) !== FREE) Atomics.wait(lock, 0, CONTENDED);
  }

  #release(): void {
    if (Atomics.exchange(this.#lock, 0, FREE) === CONTENDED) Atomics.notify(this.#lock, 0, 1);
  }
}
