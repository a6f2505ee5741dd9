// Limits the bytes of changes that the events of one workspace and environment store: a bound for each event, and a quota
// for all, so that one API token does not fill the disk. Beyond the quota events are still recorded, with fewer values.

import { setNewest } from '../bounded-map.ts';
import { DAY_MS } from '../instant.ts';
import type { JsonText } from '../json/strict-json.ts';
import { type Tenant, tenantName } from '../tenant.ts';
import { type Changes, SMALL_BYTES } from './changes.ts';

/** Maximum size of the changes in one event: enough for ordinary updates, not for a whole group of 64 KiB. */
export const EVENT_BYTES = 16_384;
/** A few megabytes. Beyond it, the longest idle environment is forgotten, and gets a full quota. */
const MAX_TENANTS = 16_384;

export interface EventQuotaOptions {
  /** 0: no quota. */
  bytesPerDay: number;
  /** Called for each event that the quota reduces. */
  onReduced: (tenant: Tenant) => void;
}

/** A token bucket per workspace and environment. It holds the quota of one day. */
export class EventQuota {
  readonly #bytesPerDay: number;
  readonly #onReduced: (tenant: Tenant) => void;
  /** Missing bytes of each bucket that is not full, least recently used first. */
  readonly #used = new Map<string, { bytes: number; at: number }>();

  constructor({ bytesPerDay, onReduced }: EventQuotaOptions) {
    this.#bytesPerDay = bytesPerDay;
    this.#onReduced = onReduced;
  }

  /** The changes in their stored form; null if there are none. `now` is `performance.now()`. */
  storedForm(tenant: Tenant, changes: Changes | null, now = performance.now()): JsonText | null {
    const stored = changes?.within(EVENT_BYTES) ?? null;
    if (stored === null || this.#admits(tenant, Buffer.byteLength(stored), now)) return stored;
    this.#onReduced(tenant);
    return changes!.within(SMALL_BYTES);
  }

  /** Charges the quota if enough is left. Small changes are always stored, and cost nothing. */
  #admits(tenant: Tenant, bytes: number, now: number): boolean {
    if (bytes <= SMALL_BYTES || this.#bytesPerDay === 0) return true;
    const key = tenantName(tenant);
    const used = this.#usedAt(now, key) + bytes;
    if (used > this.#bytesPerDay) return false;
    setNewest(this.#used, key, { bytes: used, at: now }, MAX_TENANTS);
    return true;
  }

  #usedAt(now: number, key: string): number {
    const { bytes, at } = this.#used.get(key) ?? { bytes: 0, at: now };
    return Math.max(0, bytes - ((now - at) / DAY_MS) * this.#bytesPerDay);
  }
}

/** Quota of the operator's commands: the operator decides how much they write. */
export const NO_EVENT_QUOTA: EventQuotaOptions = { bytesPerDay: 0, onReduced: () => {} };
