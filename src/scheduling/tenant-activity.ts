// Detects that several tenants use the process at the same time: what one of them does then costs the others latency, so
// each leaves free time. A tenant alone may use all of it.

/** After the last change of the tenant from one request to the next. */
const SHARED_MS = 1_000;

export class TenantActivity {
  #last: number | null = null;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** A flag, because comparing times would cost every request as much as all of the rest here. */
  #isShared = false;

  get isShared(): boolean {
    return this.#isShared;
  }

  /** Records a request of the tenant, a workspace id or `UNKNOWN_TENANT`. */
  seen(tenant: number): void {
    if (tenant === this.#last) return;
    const isFirst = this.#last === null;
    this.#last = tenant;
    if (isFirst) return;
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
