// Ids without a sequence, which not every database has: a process leases a block and hands it out. What is left
// of a block when the process ends is never used.

import type { BatchedStore } from '../store/batcher.ts';
import type { IdSequence } from '../store/store.ts';

const BLOCK = 1_000;

export class IdLease {
  readonly #store: BatchedStore;
  readonly #sequence: IdSequence;
  #next = 0;
  #end = 0;
  #leasing: Promise<void> | null = null;

  constructor(store: BatchedStore, sequence: IdSequence) {
    this.#store = store;
    this.#sequence = sequence;
  }

  /** `store` is that of the request, which knows how long to wait for a block that somebody leases. */
  async next(store: BatchedStore): Promise<number> {
    while (this.#next === this.#end) {
      this.#leasing ??= this.#lease();
      await store.inTime(this.#leasing);
    }
    return this.#next++;
  }

  async #lease(): Promise<void> {
    try {
      this.#next = await this.#store.write({ kind: 'leaseIds', sequence: this.#sequence, count: BLOCK });
      this.#end = this.#next + BLOCK;
    } finally {
      this.#leasing = null;
    }
  }
}

/** One id, where so few are needed that a block would be wasted. */
export function leaseId(store: BatchedStore, sequence: IdSequence): Promise<number> {
  return store.write({ kind: 'leaseIds', sequence, count: 1 });
}
