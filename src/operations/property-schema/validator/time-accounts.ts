// Accounts for the time that each tenant has used beyond the limit of a check, which it pays back slowly. The
// account belongs to the tenant, not to its schema: another schema does not help.

import { setNewest } from '../../../domain/bounded-map.ts';

/**
 * Milliseconds that a tenant pays back per second: the maximum share of a fast thread's time that one tenant
 * takes.
 */
const PAID_BACK_PER_SECOND = 1;
/** Time that a tenant may owe: an ordinary schema is compiled once, and a check can be slow by chance. */
const FREE_MS = 100;
/** Maximum debt: a tenant that has stopped is free again after two minutes. */
const MAX_OWED_MS = FREE_MS + 120;
/** Maximum number of accounts; beyond it, the least recently charged one is forgotten. */
const MAX_TENANTS = 10_000;

export class TimeAccounts {
  /** Time when each tenant will have paid back (`performance.now()`). */
  readonly #paidAt = new Map<number, number>();

  charge(tenant: number, ms: number): void {
    if (ms <= 0) return;
    const now = performance.now();
    const paidAt = Math.max(now, this.#paidAt.get(tenant) ?? 0) + timeToPay(ms);
    setNewest(this.#paidAt, tenant, Math.min(paidAt, now + timeToPay(MAX_OWED_MS)), MAX_TENANTS);
  }

  /** Whether the tenant owes more than `FREE_MS`. */
  owes(tenant: number): boolean {
    const paidAt = this.#paidAt.get(tenant);
    return paidAt !== undefined && paidAt > performance.now() + timeToPay(FREE_MS);
  }
}

function timeToPay(ms: number): number {
  return (ms * 1_000) / PAID_BACK_PER_SECOND;
}
