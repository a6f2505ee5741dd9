// In-process mutex with one lock per key. Without it, concurrent patches of one group would conflict and all
// but one would have to be retried, and import lines of one group would lose their order.

import type { BatchingStore } from '../../store/batching-store.ts';

export class KeyedMutex {
  /** Tail of the queue of each locked key: a promise that settles when the last waiter has finished. */
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
