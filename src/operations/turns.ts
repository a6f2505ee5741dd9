// One after the other, those who change the same thing in this process: of patches of one group that meet, all but one
// would be done in vain and tried again; lines of one group in an import are meant in their order.

import type { BatchedStore } from '../store/batched-store.ts';

export class Turns {
  /** By what is changed: settled when the last who came for it is done. */
  readonly #last = new Map<string, Promise<void>>();

  /** Does `work` when all are done who came for the same before. Throws where the request of `store` has no time left. */
  async take<Result>(of: string, store: BatchedStore, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(of);
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    const last = before === undefined ? done : before.then(() => done);
    this.#last.set(of, last);
    // Not where this one ends: it may give up while those before it go on.
    void last.then(() => {
      if (this.#last.get(of) === last) this.#last.delete(of);
    });
    try {
      if (before !== undefined) await store.inTime(before);
      return await work();
    } finally {
      end();
    }
  }
}
