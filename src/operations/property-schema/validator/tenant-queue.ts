// Queue that serves the tenant that has used the least time (start-time fair queueing: Goyal, Vin and Cheng,
// 1996): each tenant waits for its own work, and for one piece of work of every other tenant.

import { setNewest } from '../../../domain/bounded-map.ts';
import { FairShare } from '../../../scheduling/fair-share.ts';

const MAX_QUEUED = 1_000;
/** Number of tenants whose used time is kept; beyond it, the tenant that was charged least recently is forgotten. */
const MAX_TENANTS = 10_000;

export interface Queued {
  tenant: number;
  /** Whether the item is served only if nothing else waits. */
  isLowPriority: boolean;
  /** Latest time to start (`performance.now()`). */
  startBy: number;
}

export class TenantQueue<Item extends Queued> {
  /** Items of each tenant, in order of arrival. */
  readonly #queues = new Map<number, Item[]>();
  readonly #share = new FairShare(MAX_QUEUED);
  /** Time that each tenant has used, least recently charged first; an absent tenant has used `#now`. */
  readonly #usedMs = new Map<number, number>();
  /**
   * Used time of the tenant that was served last. A tenant that was idle starts from here, so that it is not
   * served for longer afterwards.
   */
  #now = 0;

  /** Returns false if the tenant already has too many items in the queue. */
  add(item: Item): boolean {
    const { tenant } = item;
    if (!this.#share.admits(tenant)) return false;
    this.#share.take(tenant, 1);
    const queue = this.#queues.get(tenant);
    if (queue === undefined) this.#queues.set(tenant, [item]);
    else queue.push(item);
    return true;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Removes and returns the next item of a tenant for which `mayStart` returns true. */
  take(mayStart: (tenant: number) => boolean = () => true): Item | undefined {
    const [first, ...others] = [...this.#queues.values()].filter(([item]) => mayStart(item!.tenant));
    if (first === undefined) return undefined;
    const next = others.reduce((best, queue) => (this.#isBefore(queue[0]!, best[0]!) ? queue : best), first);
    const item = this.#shift(next);
    this.#now = Math.max(this.#now, this.#usedBy(item.tenant));
    return item;
  }

  /** Removes and returns the items that can no longer be started in time. */
  takeLate(): Item[] {
    const now = performance.now();
    const late: Item[] = [];
    for (const queue of this.#queues.values())
      while (queue.length > 0 && queue[0]!.startBy < now) late.push(this.#shift(queue));
    return late;
  }

  charge(tenant: number, ms: number): void {
    setNewest(this.#usedMs, tenant, this.#usedBy(tenant) + ms, MAX_TENANTS);
  }

  #isBefore(item: Item, other: Item): boolean {
    if (item.isLowPriority !== other.isLowPriority) return other.isLowPriority;
    return this.#usedBy(item.tenant) < this.#usedBy(other.tenant);
  }

  #usedBy(tenant: number): number {
    return Math.max(this.#now, this.#usedMs.get(tenant) ?? 0);
  }

  #shift(queue: Item[]): Item {
    const item = queue.shift()!;
    this.#share.release(item.tenant, 1);
    if (queue.length === 0) this.#queues.delete(item.tenant);
    return item;
  }
}
