// Detects that several tenants use the process at the same time: what one of them does then costs the others
// latency, so each leaves free time. A tenant alone may use all of it. The threads of a process share its
// processors, so each must know of the other threads' tenants.

import { HEALTH_CHECKS_TENANT } from './fair-queue.ts';

/** How long tenants count as sharing the process after two successive requests of different tenants. */
const SHARED_MS = 1_000;

/** Health checks that a thread gets per second from supervisors and load balancers; more are those of a tenant. */
const CHECKS_PER_SECOND = 100;

/** No tenant has this id. */
const NONE = -(2 ** 31);

export class TenantActivity {
  /** The tenant of the last request, in any thread. */
  readonly #last: Int32Array;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** A flag, because comparing times would cost every request as much as the rest of this class. */
  #isShared = false;
  #checks = 0;
  #checksSince = Number.NEGATIVE_INFINITY;

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

  /** Records a health check. The few that every process gets must not slow down a tenant that is alone. */
  seenHealthCheck(): void {
    const now = performance.now();
    if (now - this.#checksSince >= 1_000) {
      this.#checksSince = now;
      this.#checks = 0;
    }
    if (++this.#checks > CHECKS_PER_SECOND) this.seen(HEALTH_CHECKS_TENANT);
  }

  #checkAfter(ms: number): void {
    setTimeout(() => {
      const remainingMs = this.#changedAt + SHARED_MS - performance.now();
      if (remainingMs <= 0) this.#isShared = false;
      else this.#checkAfter(remainingMs);
    }, ms).unref();
  }
}
