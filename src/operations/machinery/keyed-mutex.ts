// In-process mutex with one lock per key. Without it, concurrent patches of one group would conflict and all
// but one would have to be retried, and import lines of one group would lose their order.

import type { BatchingStore } from '../../store/batching-store.ts';
import { StartedTooLate, WaitedTooLong } from '../../store/port.ts';

interface Lock {
  /** Settles when the last waiter has finished. */
  tail: Promise<void>;
  /** Number of calls that have succeeded. */
  done: number;
}

export class KeyedMutex {
  /** Those of the locked keys. */
  readonly #locks = new Map<string, Lock>();

  /**
   * Runs `work` after all earlier calls with the same key. Throws if the deadline of `store` passes while waiting:
   * `WaitedTooLong` if earlier calls have succeeded meanwhile, otherwise `StartedTooLate`.
   */
  async runExclusive<Result>(
    key: string,
    store: Pick<BatchingStore, 'inTime'>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const previous = this.#locks.get(key);
    const waited = previous?.tail;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const tail = waited === undefined ? released : waited.then(() => released);
    const lock = previous ?? { tail, done: 0 };
    lock.tail = tail;
    this.#locks.set(key, lock);
    const doneBefore = lock.done;
    const late = (): Error =>
      lock.done > doneBefore
        ? new WaitedTooLong('waited too long for other changes')
        : new StartedTooLate('timed out in the queue for the database');
    // Not in `finally`: this call may time out while earlier ones still hold the lock.
    void tail.then(() => {
      if (lock.tail === tail) this.#locks.delete(key);
    });
    try {
      if (waited !== undefined) await store.inTime(waited, late);
      const result = await work();
      lock.done++;
      return result;
    } finally {
      release();
    }
  }
}
