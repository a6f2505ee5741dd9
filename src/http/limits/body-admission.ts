// Admission control for large bodies: limits their total size in memory, from the first byte until they are
// parsed. Beyond the limit requests are rejected before their body is read. Small bodies, which are read
// during authentication, do not count.

import { tooBusy } from '../../operations/refusals.ts';
import { Problem } from '../../problem.ts';
import { FairShare } from '../../scheduling/fair-share.ts';

/** Maximum of one tenant while no other sends large bodies: 64 of the largest, about a second of parsing. */
export const MAX_BYTES = 16 * 1024 * 1024;
/** Capacity for all tenants. A single one gets half of it. */
const CAPACITY_BYTES = 2 * MAX_BYTES;

/** A body that arrives more slowly than this, and is late by more than MAX_DELAY_MS, is evicted at the limit. */
export const MIN_BYTES_PER_SECOND = 64 * 1024;
export const MAX_DELAY_MS = 1_000;

const OVERLOADED = tooBusy('Too many large bodies are waiting to be parsed. Retry later.');

const EVICTED = new Problem(
  'request_timeout',
  `The body arrived more slowly than ${MIN_BYTES_PER_SECOND} bytes per second while other requests waited. Try again.`,
);

export class BodyAdmission {
  readonly #shares: FairShare;
  /** Bodies being received, in start order. */
  readonly receiving = new Set<Reservation>();

  /** `threads` of the process divide the capacity. */
  constructor(threads = 1) {
    this.#shares = new FairShare(CAPACITY_BYTES / threads);
  }

  /** `tenant`: a workspace id. */
  open(tenant: number): Reservation {
    return new Reservation(tenant, this);
  }

  /** Evicts the bodies that are furthest behind until the bytes fit. Throws `overloaded`. */
  take(tenant: number, bytes: number): void {
    while (this.#shares.grant(tenant, bytes) < bytes) {
      const latest = this.#latest(this.#shares.heldBy(tenant));
      if (latest === null) throw OVERLOADED;
      latest.evict();
    }
    this.#shares.take(tenant, bytes);
  }

  release(tenant: number, bytes: number): void {
    this.#shares.release(tenant, bytes);
  }

  /**
   * Returns the body that is furthest behind, or null. Considers only tenants that hold at least
   * `heldAtLeast`: a tenant does not evict the bodies of one that holds less.
   */
  #latest(heldAtLeast: number): Reservation | null {
    const now = performance.now();
    let latest: Reservation | null = null;
    let delayMs = MAX_DELAY_MS;
    for (const reservation of this.receiving) {
      if (now - reservation.startedAt <= MAX_DELAY_MS) break;
      if (reservation.bytes === 0 || reservation.delayMs(now) <= delayMs) continue;
      if (this.#shares.heldBy(reservation.tenant) < heldAtLeast) continue;
      latest = reservation;
      delayMs = reservation.delayMs(now);
    }
    return latest;
  }
}

/** Reserves the bytes of one body until disposed. */
export class Reservation implements Disposable {
  readonly tenant: number;
  readonly #admission: BodyAdmission;
  #bytes = 0;
  #receivedBytes = 0;
  #startedAt = 0;
  #onEvict: ((problem: Problem) => void) | null = null;

  constructor(tenant: number, admission: BodyAdmission) {
    this.tenant = tenant;
    this.#admission = admission;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get startedAt(): number {
    return this.#startedAt;
  }

  /** Delay of the body relative to one that arrives at the minimum rate. */
  delayMs(now: number): number {
    return now - this.#startedAt - (this.#receivedBytes / MIN_BYTES_PER_SECOND) * 1_000;
  }

  /** Throws `overloaded`. */
  grow(bytes: number): void {
    this.#admission.take(this.tenant, bytes);
    this.#bytes += bytes;
  }

  /** Allows the eviction of the reservation until `complete`. */
  receive(onEvict: (problem: Problem) => void): void {
    this.#onEvict = onEvict;
    this.#startedAt = performance.now();
    this.#admission.receiving.add(this);
  }

  progress(bytes: number): void {
    this.#receivedBytes += bytes;
  }

  complete(): void {
    this.#admission.receiving.delete(this);
  }

  evict(): void {
    this[Symbol.dispose]();
    this.#onEvict?.(EVICTED);
  }

  [Symbol.dispose](): void {
    this.complete();
    this.#admission.release(this.tenant, this.#bytes);
    this.#bytes = 0;
  }
}
