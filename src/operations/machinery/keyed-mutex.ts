// In-process mutex with one lock per key. Without it, concurrent patches of one group would conflict and all
// but one would have to be retried, and import lines of one group would lose their order.

import { timedOutInQueue } from '../../store/batcher.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { StoreUnavailable, WaitedTooLong } from '../../store/port.ts';

interface Lock {
  /** Settles when the last waiter has finished. */
  tail: Promise<void>;
  /** Number of calls that have succeeded, or were refused for another reason than the database. */
  answered: number;
}

export class KeyedMutex {
  /** Those of the locked keys. */
  readonly #locks = new Map<string, Lock>();

  /**
   * Runs `work` after all earlier calls with the same key. Throws if the deadline of `store` passes while waiting:
   * `WaitedTooLong` if earlier calls were answered meanwhile, otherwise `StartedTooLate`.
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
    const lock = previous ?? { tail, answered: 0 };
    lock.tail = tail;
    this.#locks.set(key, lock);
    const before = lock.answered;
    const late = (): Error =>
      lock.answered > before ? new WaitedTooLong('waited too long for other changes') : timedOutInQueue();
    // Not in `finally`: this call may time out while earlier ones still hold the lock.
    void tail.then(() => {
      if (lock.tail === tail) this.#locks.delete(key);
    });
    let isAnswered = true;
    try {
      if (waited !== undefined) await store.inTime(waited, late);
      return await work();
    } catch (error) {
      isAnswered = !(error instanceof StoreUnavailable);
      throw error;
    } finally {
      if (isAnswered) lock.answered++;
      release();
    }
  }
}
