// Start-time fair queueing (Goyal, Vin and Cheng, 1996): tenants take turns by what their items cost and not by their
// number. Small items do not wait for the second large one of another tenant, and a large one waits for as much work of
// each other tenant as its own earlier items took.

/** Number of tenants below which none is forgotten. */
const MANY = 4_096;

export class FairTurns {
  /** End of the last item of each tenant. */
  readonly #ends = new Map<number, number>();
  /** Virtual time: the start of the last item that was served. */
  #now = 0;
  /** Number of tenants at which those without a claim to a later start are forgotten. */
  #limit = MANY;

  /** Start of the next item of the tenant, a workspace id. */
  startOf(tenant: number): number {
    return Math.max(this.#now, this.#ends.get(tenant) ?? 0);
  }

  /** Adds an item. Returns its start: items are served in the order of their starts. */
  add(tenant: number, cost: number): number {
    const start = this.startOf(tenant);
    this.#ends.set(tenant, start + cost);
    if (this.#ends.size > this.#limit) this.#forgetEnded();
    return start;
  }

  /** Records that an item with this start is served. */
  serve(start: number): void {
    this.#now = Math.max(this.#now, start);
  }

  #forgetEnded(): void {
    for (const [tenant, end] of this.#ends) if (end <= this.#now) this.#ends.delete(tenant);
    // Doubled, so that adding an item takes constant time on average although many keep their claims.
    this.#limit = Math.max(MANY, 2 * this.#ends.size);
  }

  /** Forgets the tenants, when none has an item. */
  reset(): void {
    this.#ends.clear();
  }
}
