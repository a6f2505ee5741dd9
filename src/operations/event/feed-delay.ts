// Measures how long a transaction has held up the feed of events. Its start is not asked for: PostgreSQL hides that of
// another user's transaction.

import type { BatchingStore } from '../../store/batching-store.ts';

/** Less than the timeout of a scrape, whatever the timeouts of the database. */
const QUERY_MS = 2_000;

export class FeedDelay {
  readonly #store: BatchingStore;
  /** The transaction that the feed waits for, and when it was first seen; `performance.now()`. */
  #blocker: { transaction: number; seenAt: number } | null = null;

  constructor(store: BatchingStore) {
    this.#store = store;
  }

  /** Returns milliseconds, at most those since the first call. Throws `StoreUnavailable`. */
  async measure(): Promise<number> {
    const store = this.#store.until(performance.now() + QUERY_MS);
    const transaction = await store.inTime(store.read({ kind: 'findFeedBlocker' }));
    const now = performance.now();
    if (transaction === null) this.#blocker = null;
    else if (transaction !== this.#blocker?.transaction) this.#blocker = { transaction, seenAt: now };
    return this.#blocker === null ? 0 : now - this.#blocker.seenAt;
  }
}
