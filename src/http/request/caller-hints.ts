// Fixed-size lossy map: token digest to last known caller.

/** Characters of a digest, together 22 bits. */
const HASHED_CHARACTERS = 4;
const FNV_PRIME = 16_777_619;
/** Number of slots that a key may be in. */
const WAYS = 4;

interface Hint<Value> {
  readonly key: string;
  readonly tenant: number;
  readonly value: Value;
}

/**
 * Maps keys to values in a fixed number of slots, a multiple of `WAYS`. If all slots of a new key are occupied, it
 * replaces a key of its own tenant (a workspace id) if it can: one with many API tokens makes the service forget its
 * own. A `Map` that evicts its oldest entry is slower: deleted entries leave holes that iteration has to skip, and it
 * hashes the whole key.
 */
export class CallerHints<Value> {
  readonly #slots: (Hint<Value> | undefined)[];
  /** Way that is replaced next if a key replaces one of another tenant. */
  #nextWay = 0;

  constructor(slots: number) {
    this.#slots = new Array<undefined>(slots);
  }

  get(key: string): Value | undefined {
    const slot = this.#find(key);
    return slot === -1 ? undefined : this.#slots[slot]!.value;
  }

  add(key: string, tenant: number, value: Value): void {
    this.#slots[this.#choose(key, tenant)] = { key, tenant, value };
  }

  delete(key: string): void {
    const slot = this.#find(key);
    if (slot !== -1) this.#slots[slot] = undefined;
  }

  /** Returns the slot of the key, or -1. */
  #find(key: string): number {
    const first = this.#firstSlot(key);
    for (let slot = first; slot < first + WAYS; slot++) if (this.#slots[slot]?.key === key) return slot;
    return -1;
  }

  /** Returns the slot of the key; otherwise a free one, one of its tenant, or any. */
  #choose(key: string, tenant: number): number {
    const known = this.#find(key);
    if (known !== -1) return known;
    const first = this.#firstSlot(key);
    let ofTenant = -1;
    for (let slot = first; slot < first + WAYS; slot++) {
      const hint = this.#slots[slot];
      if (hint === undefined) return slot;
      if (hint.tenant === tenant) ofTenant = slot;
    }
    if (ofTenant !== -1) return ofTenant;
    this.#nextWay = (this.#nextWay + 1) % WAYS;
    return first + this.#nextWay;
  }

  /** FNV-1a of the last characters: keys are digests, which differ everywhere. */
  #firstSlot(key: string): number {
    let hash = key.length;
    for (let index = Math.max(0, key.length - HASHED_CHARACTERS); index < key.length; index++) {
      hash = Math.imul(hash ^ key.charCodeAt(index), FNV_PRIME);
    }
    return ((hash >>> 0) % (this.#slots.length / WAYS)) * WAYS;
  }
}
