// Queue that serves the tenant that has used the least time: each tenant waits for its own work, and for one piece of work
// of every other tenant. What an item costs is known only after it was served.

import { FairShare } from '../../../scheduling/fair-share.ts';
import { FairTurns } from '../../../scheduling/fair-turns.ts';

const MAX_QUEUED = 1_000;

export interface Queued {
  tenant: number;
  /** Whether the item is served only if nothing else waits. */
  isLowPriority: boolean;
  /** Latest time to start (`performance.now()`). */
  startBy: number;
}

export class TenantQueue<Item extends Queued> {
  /** Items in order of arrival. */
  #items: Item[] = [];
  readonly #share = new FairShare(MAX_QUEUED);
  readonly #turns = new FairTurns();

  /** Returns false if the tenant already has too many items in the queue. */
  add(item: Item): boolean {
    if (!this.#share.admits(item.tenant)) return false;
    this.#share.take(item.tenant, 1);
    this.#items.push(item);
    return true;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Removes and returns the next item of a tenant for which `mayStart` returns true. */
  take(mayStart: (tenant: number) => boolean = () => true): Item | undefined {
    const [first, ...others] = this.#items.filter(({ tenant }) => mayStart(tenant));
    if (first === undefined) return undefined;
    const next = others.reduce((best, item) => (this.#isBefore(item, best) ? item : best), first);
    this.#remove((item) => item === next);
    this.#turns.serve(this.#turns.startOf(next.tenant));
    return next;
  }

  /** Removes and returns the items that can no longer be started in time. */
  takeLate(): Item[] {
    const now = performance.now();
    return this.#remove(({ startBy }) => startBy < now);
  }

  charge(tenant: number, ms: number): void {
    this.#turns.add(tenant, ms);
  }

  #isBefore(item: Item, other: Item): boolean {
    if (item.isLowPriority !== other.isLowPriority) return other.isLowPriority;
    return this.#turns.startOf(item.tenant) < this.#turns.startOf(other.tenant);
  }

  /** Removes and returns the items that match. */
  #remove(matches: (item: Item) => boolean): Item[] {
    const removed = this.#items.filter(matches);
    if (removed.length > 0) this.#items = this.#items.filter((item) => !matches(item));
    for (const { tenant } of removed) this.#share.release(tenant, 1);
    return removed;
  }
}
