// The time that each tenant has used beyond what a check may take, paid back slowly. The account is that of the tenant,
// not of its schema: another schema does not help.

/** Milliseconds that are paid back in a second: the share of its time that a fast thread loses to one tenant at most. */
const PAID_BACK_PER_SECOND = 1;
/** A tenant may owe this: an ordinary schema is compiled once, and a check can be slow by chance. */
const FREE_MS = 100;
/** A tenant that has stopped is free again after two minutes. */
const MAX_OWED_MS = FREE_MS + 120;
/** Beyond that, the tenant that was charged least recently is forgotten. */
const MAX_TENANTS = 10_000;

export class TimeAccounts {
  /** When each tenant will have paid back (`performance.now()`). */
  readonly #paidAt = new Map<number, number>();

  charge(tenant: number, ms: number): void {
    if (ms <= 0) return;
    const now = performance.now();
    const paidAt = Math.max(now, this.#paidAt.get(tenant) ?? 0) + timeToPay(ms);
    this.#paidAt.delete(tenant);
    this.#paidAt.set(tenant, Math.min(paidAt, now + timeToPay(MAX_OWED_MS)));
    if (this.#paidAt.size > MAX_TENANTS) this.#paidAt.delete(this.#paidAt.keys().next().value!);
  }

  /** Whether the tenant owes more than is free. */
  owes(tenant: number): boolean {
    const paidAt = this.#paidAt.get(tenant);
    return paidAt !== undefined && paidAt > performance.now() + timeToPay(FREE_MS);
  }
}

function timeToPay(ms: number): number {
  return (ms * 1_000) / PAID_BACK_PER_SECOND;
}
