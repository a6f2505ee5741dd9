// Semaphore that workspaces share fairly: a workspace that takes all it can get leaves room for the next one.
// Waiting workspaces take turns, and so do the endpoints of a workspace.

import { FairQueue } from '../scheduling/fair-queue.ts';
import { FairShare } from '../scheduling/fair-share.ts';

interface Waiting {
  workspaceId: number;
  wanted: number;
  resolve: (taken: number) => void;
}

export class Slots {
  readonly #share: FairShare;
  readonly #waiting = new FairQueue<Waiting>();
  #isClosed = false;

  constructor(count: number) {
    this.#share = new FairShare(count);
  }

  /**
   * Takes up to `wanted` slots as soon as the workspace may hold another one. Returns how many; 0 only if
   * closed.
   */
  take(workspaceId: number, wanted: number): Promise<number> {
    if (this.#isClosed) return Promise.resolve(0);
    return new Promise((resolve) => {
      this.#waiting.push(workspaceId, { workspaceId, wanted, resolve });
      this.#serve();
    });
  }

  release(workspaceId: number, count: number): void {
    if (count === 0) return;
    this.#share.release(workspaceId, count);
    this.#serve();
  }

  /** Ends every wait, with 0 slots. */
  close(): void {
    this.#isClosed = true;
    for (let call = this.#waiting.shift(); call !== undefined; call = this.#waiting.shift()) call.resolve(0);
  }

  #serve(): void {
    // Otherwise none is admitted, of thousands of workspaces that may wait.
    while (this.#share.hasFree) {
      const call = this.#waiting.shift((workspaceId) => this.#share.admits(workspaceId));
      if (call === undefined) return;
      const taken = this.#share.grant(call.workspaceId, call.wanted);
      this.#share.take(call.workspaceId, taken);
      call.resolve(taken);
    }
  }
}
