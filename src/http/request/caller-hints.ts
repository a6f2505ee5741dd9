// Fixed-size lossy map: token digest to last known caller.

/** Characters of a digest, together 22 bits. */
const HASHED_CHARACTERS = 4;
const FNV_PRIME = 16_777_619;

/**
 * Maps keys to values in a fixed number of slots; a new key replaces whichever key occupies its slot. A `Map`
 * that evicts its oldest entry is slower: deleted entries leave holes that iteration has to skip, and it
 * hashes the whole key.
 */
export class CallerHints<Value> {
  readonly #slots: ({ key: string; value: Value } | undefined)[];

  constructor(slots: number) {
    this.#slots = new Array<undefined>(slots);
  }

  get(key: string): Value | undefined {
    const entry = this.#slots[this.#slot(key)];
    return entry?.key === key ? entry.value : undefined;
  }

  add(key: string, value: Value): void {
    this.#slots[this.#slot(key)] = { key, value };
  }

  delete(key: string): void {
    if (this.get(key) !== undefined) this.#slots[this.#slot(key)] = undefined;
  }

  /** FNV-1a of the last characters: keys are digests, which differ everywhere. */
  #slot(key: string): number {
    let hash = key.length;
    for (let index = Math.max(0, key.length - HASHED_CHARACTERS); index < key.length; index++) {
      hash = Math.imul(hash ^ key.charCodeAt(index), FNV_PRIME);
    }
    return (hash >>> 0) % this.#slots.length;
  }
}
