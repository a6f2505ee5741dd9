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
  /** Items of each tenant, in order of arrival. */
  readonly #queues = new Map<number, Item[]>();
  readonly #share = new FairShare(MAX_QUEUED);
  readonly #turns = new FairTurns();

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
    this.#turns.serve(this.#turns.startOf(item.tenant));
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
    this.#turns.add(tenant, ms);
  }

  #isBefore(item: Item, other: Item): boolean {
    if (item.isLowPriority !== other.isLowPriority) return other.isLowPriority;
    return this.#turns.startOf(item.tenant) < this.#turns.startOf(other.tenant);
  }

  #shift(queue: Item[]): Item {
    const item = queue.shift()!;
    this.#share.release(item.tenant, 1);
    if (queue.length === 0) this.#queues.delete(item.tenant);
    return item;
  }
}
