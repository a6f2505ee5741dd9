// A semaphore that workspaces share fairly: one that takes all it can get leaves room for the next. Waiting workspaces
// take turns, and so do the endpoints of one.

import { FairShare } from '../scheduling/fair-share.ts';

interface Waiting {
  wanted: number;
  resolve: (taken: number) => void;
}

export class Slots {
  readonly #share: FairShare;
  /** Waiting calls by workspace. Workspaces, and the calls of each, are in the order of their turns. */
  readonly #waiting = new Map<number, Waiting[]>();
  #isClosed = false;

  constructor(count: number) {
    this.#share = new FairShare(count);
  }

  /** Takes up to `wanted` as soon as the workspace may hold another one; returns how many: 0 only if closed. */
  take(workspaceId: number, wanted: number): Promise<number> {
    if (this.#isClosed) return Promise.resolve(0);
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(workspaceId);
      if (waiting === undefined) this.#waiting.set(workspaceId, [{ wanted, resolve }]);
      else waiting.push({ wanted, resolve });
      this.#serve();
    });
  }

  release(workspaceId: number, count: number): void {
    if (count === 0) return;
    this.#share.release(workspaceId, count);
    this.#serve();
  }

  /** Nothing waits any longer. */
  close(): void {
    this.#isClosed = true;
    for (const { resolve } of [...this.#waiting.values()].flat()) resolve(0);
    this.#waiting.clear();
  }

  #serve(): void {
    // Includes the entries that are added at the end meanwhile.
    for (const [workspaceId, waiting] of this.#waiting) {
      const taken = this.#share.grant(workspaceId, waiting[0]!.wanted);
      if (taken === 0) continue;
      this.#share.take(workspaceId, taken);
      waiting.shift()!.resolve(taken);
      this.#waiting.delete(workspaceId);
      if (waiting.length > 0) this.#waiting.set(workspaceId, waiting);
    }
  }
}
