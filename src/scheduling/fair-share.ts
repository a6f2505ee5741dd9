// Divides a capacity among tenants with a dynamic threshold: each may hold at most as much as is free (Choudhury and Hahne,
// "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998). One tenant that takes all it can get leaves
// half of the capacity, and n such tenants converge to 1/(n+1) each, so the next tenant does not wait. A fixed share
// would be too large for many tenants, or too small for one.

export class FairShare {
  readonly #held = new Map<number, number>();
  #free: number;

  constructor(capacity: number) {
    this.#free = capacity;
  }

  /** Returns how many of `wanted` units the tenant, a workspace id, may take now. */
  grant(tenant: number, wanted: number): number {
    const share = Math.ceil((this.#free - this.heldBy(tenant)) / 2);
    return Math.max(0, Math.min(wanted, share));
  }

  /** Whether the tenant may take at least one unit: for amounts that are known only afterwards. */
  admits(tenant: number): boolean {
    return this.#free > this.heldBy(tenant);
  }

  /** Whether any tenant may take a unit. */
  get hasFree(): boolean {
    return this.#free > 0;
  }

  heldBy(tenant: number): number {
    return this.#held.get(tenant) ?? 0;
  }

  /** Never refuses: callers ask `grant` or `admits` first. */
  take(tenant: number, amount: number): void {
    this.#free -= amount;
    this.#held.set(tenant, this.heldBy(tenant) + amount);
  }

  release(tenant: number, amount: number): void {
    this.#free += amount;
    const held = this.heldBy(tenant) - amount;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
  }
}
