// In-process mutex, one lock per key. Concurrent patches of one group would otherwise conflict, so that all but one
// have to be retried, and import lines of one group would lose their order.

import type { BatchingStore } from '../../store/batching-store.ts';

export class KeyedMutex {
  /** For each locked key, the tail of its queue: a promise that settles when the last waiter has finished. */
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `work` after all earlier calls with the same key. Throws if the deadline of `store` passes while waiting. */
  async runExclusive<Result>(
    key: string,
    store: Pick<BatchingStore, 'inTime'>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const previous = this.#tails.get(key);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const tail = previous === undefined ? released : previous.then(() => released);
    this.#tails.set(key, tail);
    // Not in `finally`: this call may time out while earlier ones still hold the lock.
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    try {
      if (previous !== undefined) await store.inTime(previous);
      return await work();
    } finally {
      release();
    }
  }
}
