// Queues of tenants that are served in turn: for each of its items, a tenant waits for at most one item of
// each other tenant.

/** Stands for all callers whose tenant is not known: together they have the share of one. */
export const UNKNOWN_TENANT = 0;
/** Stands for supervisors and load balancers, which must not wait for unknown callers. */
export const HEALTH_CHECKS_TENANT = -1;

/** `Key`: tells tenants apart; by default, a workspace id. */
export class FairQueue<Item, Key = number> {
  /** Queues in the order in which their tenants are served next. None is empty. */
  readonly #queues = new Map<Key, Item[]>();
  readonly #isBefore: (item: Item, other: Item) => boolean;
  #length = 0;

  /** `isBefore` orders the items of one tenant; without it, they keep the order of their arrival. */
  constructor(isBefore: (item: Item, other: Item) => boolean = () => false) {
    this.#isBefore = isBefore;
  }

  get length(): number {
    return this.#length;
  }

  /** Number of tenants that have items. */
  get tenants(): number {
    return this.#queues.size;
  }

  /** Number of items of the tenant. */
  lengthOf(tenant: Key): number {
    return this.#queues.get(tenant)?.length ?? 0;
  }

  push(tenant: Key, item: Item): void {
    this.#length++;
    const queue = this.#queues.get(tenant);
    if (queue === undefined) {
      this.#queues.set(tenant, [item]);
      return;
    }
    let index = queue.length;
    while (index > 0 && this.#isBefore(item, queue[index - 1]!)) index--;
    queue.splice(index, 0, item);
  }

  /** Removes the next item, or the next one of a tenant that `mayStart`. */
  shift(mayStart: (tenant: Key) => boolean = () => true): Item | undefined {
    for (const [tenant, queue] of this.#queues) {
      if (!mayStart(tenant)) continue;
      const item = queue.shift()!;
      this.#length--;
      this.#queues.delete(tenant);
      if (queue.length > 0) this.#queues.set(tenant, queue);
      return item;
    }
    return undefined;
  }
}
