// Measures how long a transaction has held up the feed of events. Its start is not asked for: PostgreSQL hides that of
// another user's transaction.

import type { BatchingStore } from '../../store/batching-store.ts';
import { readForScrape } from '../machinery/read-for-scrape.ts';

export class FeedDelay {
  readonly #store: BatchingStore;
  /** The transaction that the feed waits for, and when it was first seen; `performance.now()`. */
  #blocker: { transaction: number; seenAt: number } | null = null;

  constructor(store: BatchingStore) {
    this.#store = store;
  }

  /** Returns milliseconds, at most those since the first call. Throws `StoreUnavailable`. */
  async measure(): Promise<number> {
    const transaction = await readForScrape(this.#store, { kind: 'findFeedBlocker' });
    const now = performance.now();
    if (transaction === null) this.#blocker = null;
    else if (transaction !== this.#blocker?.transaction) this.#blocker = { transaction, seenAt: now };
    return this.#blocker === null ? 0 : now - this.#blocker.seenAt;
  }
}
