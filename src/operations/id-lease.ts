// Ids without a sequence, which not every database has: a process leases a block and hands it out. What is left
// of a block when the process ends is never used.

import type { BatchedStore } from '../store/batched-store.ts';
import type { IdSequence } from '../store/store.ts';

const BLOCK = 1_000;

interface Block {
  next: number;
  end: number;
}

export class IdLease {
  readonly #store: BatchedStore;
  readonly #sequence: IdSequence;
  #blocks: Block[] = [];
  #leasing: Promise<void> | null = null;

  constructor(store: BatchedStore, sequence: IdSequence) {
    this.#store = store;
    this.#sequence = sequence;
  }

  /** `store` is that of the request, which knows how long to wait for a block that somebody leases. */
  async next(store: BatchedStore): Promise<number> {
    for (;;) {
      const leasing = this.#leaseInTime();
      const [block] = this.#blocks;
      if (block === undefined) {
        await store.inTime(leasing!);
        continue;
      }
      const id = block.next++;
      if (block.next === block.end) this.#blocks.shift();
      return id;
    }
  }

  /** While as much as a block is left: with none, all that create would wait for the next one. */
  #leaseInTime(): Promise<void> | null {
    const left = this.#blocks.reduce((sum, { next, end }) => sum + end - next, 0);
    if (left <= BLOCK && this.#leasing === null) {
      this.#leasing = this.#lease();
      // Whoever needs it learns of it.
      this.#leasing.catch(() => {});
    }
    return this.#leasing;
  }

  async #lease(): Promise<void> {
    try {
      const next = await this.#store.write({ kind: 'leaseIds', sequence: this.#sequence, count: BLOCK });
      this.#blocks.push({ next, end: next + BLOCK });
    } finally {
      this.#leasing = null;
    }
  }
}

/** One id, where so few are needed that a block would be wasted. */
export function leaseId(store: BatchedStore, sequence: IdSequence): Promise<number> {
  return store.write({ kind: 'leaseIds', sequence, count: 1 });
}
