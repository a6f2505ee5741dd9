// In-process mutex with one lock per key. Without it, concurrent patches of one group would conflict and all
// but one would have to be retried, and import lines of one group would lose their order.

import type { BatchingStore } from '../../store/batching-store.ts';

export class KeyedMutex {
  /** Settles when the last waiter has finished, by locked key. */
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Runs `work` after all earlier calls with the same key. Throws `StartedTooLate` if the deadline of `store` passes
   * while waiting.
   */
  async runExclusive<Result>(
    key: string,
    store: Pick<BatchingStore, 'inTime'>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const waited = this.#tails.get(key);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const tail = waited === undefined ? released : waited.then(() => released);
    this.#tails.set(key, tail);
    // Not in `finally`: this call may time out while earlier ones still hold the lock.
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    try {
      if (waited !== undefined) await store.inTime(waited);
      return await work();
    } finally {
      release();
    }
  }
}
