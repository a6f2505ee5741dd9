// Ids without a sequence, which not every database has: a process leases a block and hands it out. What is left
// of a block when the process ends is never used.
//
// A database may lose what it had committed: a standby takes over that was behind, or an older dump is restored. It
// then gives a block to somebody else as well, so it is told of each id which lease it is of, and refuses those of a
// lease that it does not know.

import type { BatchedStore } from '../store/batched-store.ts';
import type { IdSequence } from '../store/store.ts';

const BLOCK = 1_000;

interface Block {
  lease: string;
  next: number;
  end: number;
}

export interface LeasedId {
  id: number;
  lease: string;
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
  async next(store: BatchedStore): Promise<LeasedId> {
    for (;;) {
      const leasing = this.#leaseInTime();
      const [block] = this.#blocks;
      if (block === undefined) {
        await store.inTime(leasing!);
        continue;
      }
      const id = block.next++;
      if (block.next === block.end) this.#blocks.shift();
      return { id, lease: block.lease };
    }
  }

  /** Gives no id of the lease any more. */
  end(lease: string): void {
    this.#blocks = this.#blocks.filter((block) => block.lease !== lease);
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
      const command = { kind: 'leaseIds', sequence: this.#sequence, count: BLOCK } as const;
      const { first, lease } = await this.#store.write(command);
      this.#blocks.push({ lease, next: first, end: first + BLOCK });
    } finally {
      this.#leasing = null;
    }
  }
}

/** One id, where so few are needed that a block would be wasted. */
export async function leaseId(store: BatchedStore, sequence: IdSequence): Promise<number> {
  return (await store.write({ kind: 'leaseIds', sequence, count: 1 })).first;
}
