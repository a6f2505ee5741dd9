// Admission control: estimates how long new work would wait for the database, and paces lists so that lookups
// stay fast beside them. The HTTP layer decides what the caller is told.

import type { Batcher, Cooldown, QueuePart } from './batcher.ts';

/** Access to the store that a request needs; `either`: it reads, and may then have to write. */
export type Access = 'read' | 'list' | 'write' | 'either';

/** Maximum wait of new work. A longer queue raises latency but not throughput. */
const MAX_WAIT_MS = 100;
/** A page costs as much as hundreds of lookups, and no viewer waits for a list. */
const MAX_LIST_WAIT_MS = 500;
/** Maximum wait behind cut batches: their requests are few and large, and would miss their deadline. */
const MAX_CUT_WAIT_MS = 500;
/** Maximum wait of an admitted request that has read and then turns out to need a write. */
const MAX_WRITE_WAIT_MS = 500;
/** Reads are fast while they take less than this in total. */
const FAST_READ_MS = 20;

// biome-ignore lint/suspicious/noExplicitAny: admission looks at the load only, never at the items.
type AnyBatcher = Batcher<any, any>;
/** Returns the tenant of a request, a workspace id; called only while requests wait. */
type TenantOf = () => number;

export class Admission {
  readonly #batchers: Record<'reads' | 'lists' | 'writes', AnyBatcher>;
  readonly #cooldown: ListCooldown;

  constructor(batchers: Record<'reads' | 'lists' | 'writes', AnyBatcher>, cooldown: ListCooldown) {
    this.#batchers = batchers;
    this.#cooldown = cooldown;
  }

  /**
   * Whether a new request may enter. Called before any work is done for it: an admitted request is not
   * rejected later because others arrive, so no work is wasted. A tenant is not rejected because of the
   * requests of another.
   */
  admits(access: Access, findTenant: TenantOf): boolean {
    const { reads, lists, writes } = this.#batchers;
    if (access !== 'list') this.#cooldown.otherWorkArrived();
    if (exceeds(reads, MAX_WAIT_MS, findTenant)) return false;
    if (access === 'list') return !exceeds(lists, MAX_LIST_WAIT_MS, findTenant);
    if (access === 'read' || !exceeds(writes, MAX_WAIT_MS, findTenant)) return true;
    // While writes queue up but reads are fast, requests that may not need to write are still served.
    return access === 'either' && waitMs(reads) + reads.averageRunMs < FAST_READ_MS;
  }

  /** Whether an admitted request that has to write may do so. */
  admitsWrite(findTenant: TenantOf): boolean {
    return !exceeds(this.#batchers.writes, MAX_WRITE_WAIT_MS, findTenant);
  }
}

/** Whether one more item of the tenant would wait longer than `maxWaitMs`. */
function exceeds(batcher: AnyBatcher, maxWaitMs: number, findTenant: TenantOf): boolean {
  if (isFull(batcher, findTenant)) return true;
  // The common case, a queue that fits into one batch, needs no clock.
  if (!isLate(batcher, batcher, maxWaitMs)) return false;
  return isLate(batcher, batcher.tenantQueue(findTenant()), maxWaitMs);
}

/**
 * Whether the queue has no room for one more item of the tenant. One tenant can fill it to `maxQueued`.
 * Beyond that there is as much room again for the others, each of which may have as many items as are free
 * (see `FairShare`).
 */
function isFull(batcher: AnyBatcher, findTenant: TenantOf): boolean {
  const { maxQueued } = batcher.limits;
  const queued = batcher.queuedInProcess;
  return queued >= maxQueued && batcher.queuedOfTenant(findTenant()) >= 2 * maxQueued - queued;
}

/**
 * Whether one more item behind this part of the queue would wait too long, for full or for cut batches. A queue that fits
 * into the largest batch is not too long, even if batches are smaller at present: after a pause of the database, it is
 * soon done.
 */
function isLate(batcher: AnyBatcher, part: QueuePart, maxWaitMs: number): boolean {
  const isLong = part.queued > batcher.limits.maxBatch;
  return (isLong && waitMs(batcher, part) > maxWaitMs) || cutWaitMs(batcher, part) > MAX_CUT_WAIT_MS;
}

/** Estimated wait of one more item behind the queue: at least as long as its oldest item has already waited. */
function waitMs(batcher: AnyBatcher, { queued, oldestWaitMs }: QueuePart = batcher): number {
  const { limits, maxBatch, averageRunMs } = batcher;
  if (queued === 0) return 0;
  const batchesAhead = Math.floor(queued / maxBatch);
  return Math.max(oldestWaitMs, (batchesAhead * averageRunMs) / limits.maxInFlight);
}

/** Estimated wait behind batches that were cut; 0 if the last ones were not. */
function cutWaitMs({ limits }: AnyBatcher, { cutMs }: QueuePart): number {
  return cutMs / limits.maxInFlight;
}

/** While there is other work, the lists of a tenant pause this many times as long as they kept the event loop busy. */
const PAUSE_FACTOR = 9;
/** The same for the lists of all tenants. */
const SHARED_PAUSE_FACTOR = 2;
/** Maximum pause: a process suspended in the middle of a list would otherwise pause nine times as long. */
const MAX_PAUSE_MS = 500;
/** Other work counts for this long after it arrives. */
const OTHER_WORK_WINDOW_MS = 1_000;

/**
 * Limits the lists of a tenant to a tenth of the event loop while other requests arrive, and those of all tenants to a
 * third. A tenant waits for the shorter pauses only, after the lists of another.
 */
export class ListCooldown implements Cooldown {
  #otherWorkAt = Number.NEGATIVE_INFINITY;
  #until = 0;
  readonly #untilOfTenant = new Map<number, number>();

  remainingMs(tenant: number): number {
    return Math.max(this.#until, this.#untilOfTenant.get(tenant) ?? 0) - performance.now();
  }

  otherWorkArrived(): void {
    this.#otherWorkAt = performance.now();
  }

  start(tenant: number): (resume: () => void) => void {
    const before = performance.eventLoopUtilization();
    return (resume) => {
      const end = (): void => {
        const { active } = performance.eventLoopUtilization(before);
        this.#pause(tenant, active);
        resume();
      };
      // Ends after the microtasks that write the response, and before other requests are read.
      queueMicrotask(() => process.nextTick(end));
    };
  }

  #pause(tenant: number, activeMs: number): void {
    const now = performance.now();
    for (const [other, until] of this.#untilOfTenant) if (until <= now) this.#untilOfTenant.delete(other);
    if (now - this.#otherWorkAt >= OTHER_WORK_WINDOW_MS) return;
    const end = (factor: number) => now + Math.min(activeMs * factor, MAX_PAUSE_MS);
    // Concurrent lists may have set longer pauses.
    this.#until = Math.max(this.#until, end(SHARED_PAUSE_FACTOR));
    const until = Math.max(this.#untilOfTenant.get(tenant) ?? 0, end(PAUSE_FACTOR));
    this.#untilOfTenant.set(tenant, until);
  }
}
