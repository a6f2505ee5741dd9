// Allocates ids without a sequence, which not every database has: a process leases a block of ids. Ids that
// remain when the process exits are never used.
//
// A database may lose committed leases if a lagging standby is promoted or an older dump is restored. It then
// leases the same block twice. Therefore each id is sent with its lease, and the database rejects ids of
// unknown leases.

import type { BatchingStore } from '../../store/batching-store.ts';
import type { IdSequence } from '../../store/port.ts';

const BLOCK_SIZE = 1_000;

interface Block {
  lease: string;
  next: number;
  end: number;
}

interface LeasedId {
  id: number;
  lease: string;
}

export class IdLease {
  readonly #store: BatchingStore;
  #blocks: Block[] = [];
  #leasing: Promise<void> | null = null;

  constructor(store: BatchingStore) {
    this.#store = store;
  }

  /** Returns the next id. The deadline of `store` limits the wait for a block that is being leased. */
  async next(store: BatchingStore): Promise<LeasedId> {
    for (;;) {
      const leasing = this.#leaseAhead();
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

  /** Stops issuing ids of the lease. */
  discard(lease: string): void {
    this.#blocks = this.#blocks.filter((block) => block.lease !== lease);
  }

  /** Prefetches the next block once at most one block is left, so that creations do not wait for a lease. */
  #leaseAhead(): Promise<void> | null {
    const remaining = this.#blocks.reduce((sum, { next, end }) => sum + end - next, 0);
    if (remaining <= BLOCK_SIZE && this.#leasing === null) {
      this.#leasing = this.#lease();
      // Callers of `next` that need the block handle the error.
      this.#leasing.catch(() => {});
    }
    return this.#leasing;
  }

  async #lease(): Promise<void> {
    try {
      const command = { kind: 'leaseIds', sequence: 'team_id', count: BLOCK_SIZE } as const;
      const { first, lease } = await this.#store.write(command);
      this.#blocks.push({ lease, next: first, end: first + BLOCK_SIZE });
    } finally {
      this.#leasing = null;
    }
  }
}

/** Leases a single id, for entities that are too few for blocks. */
export async function leaseId(store: BatchingStore, sequence: IdSequence): Promise<number> {
  return (await store.write({ kind: 'leaseIds', sequence, count: 1 })).first;
}
