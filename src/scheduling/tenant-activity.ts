// Detects that several tenants use the process at the same time: what one of them does then costs the others
// latency, so each leaves free time. A tenant alone may use all of it. The threads of a process share its
// processors, so each must know of the other threads' tenants.

/** How long tenants count as sharing the process after two successive requests of different tenants. */
const SHARED_MS = 1_000;

/** No tenant has this id. */
const NONE = -(2 ** 31);

export class TenantActivity {
  /** The tenant of the last request, in any thread. */
  readonly #last: Int32Array;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** A flag, because comparing times would cost every request as much as the rest of this class. */
  #isShared = false;

  /** Memory that all threads of the process share. */
  static allocate(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    new Int32Array(memory).fill(NONE);
    return memory;
  }

  constructor(memory = TenantActivity.allocate()) {
    this.#last = new Int32Array(memory);
  }

  get isShared(): boolean {
    return this.#isShared;
  }

  /** Records a request of the tenant, a workspace id or `UNKNOWN_TENANT`. */
  seen(tenant: number): void {
    const last = this.#last[0];
    if (tenant === last) return;
    this.#last[0] = tenant;
    if (last === NONE) return;
    this.#changedAt = performance.now();
    if (!this.#isShared) this.#checkAfter(SHARED_MS);
    this.#isShared = true;
  }

  #checkAfter(ms: number): void {
    setTimeout(() => {
      const remainingMs = this.#changedAt + SHARED_MS - performance.now();
      if (remainingMs <= 0) this.#isShared = false;
      else this.#checkAfter(remainingMs);
    }, ms).unref();
  }
}
