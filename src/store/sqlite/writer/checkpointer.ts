// Checkpoints of the log, in a thread beside the writer: it copies the log into the database and syncs it
// while the writer commits, and the writer copies only what was appended meanwhile. A checkpoint by the
// writer alone would block it until 10 000 pages are copied and synced: 50 ms with a million groups.
//
// SQLite counts pages as copied before they are synced, and Linux marks pages as clean that it could not write. So after
// a failed sync, pages may be lost that no later checkpoint copies again. Only their copies in the log remain, and only
// the first process to open the file reads all of it: this process must end, without closing its connections.

import type { Worker } from 'node:worker_threads';
import { startThread } from '../../../system/start-thread.ts';
import { CHECKPOINT_PAGES, type Connection } from '../file/connection.ts';
import type { CheckpointerFile, CheckpointerReply, CheckpointerRequest } from './checkpointer-thread.ts';

/** Number of pages that the writer copies in a few milliseconds. */
const MAX_WRITER_PAGES = 500;
/** Length at which the writer waits for the thread, 160 MB: the disk is slower than the callers. */
const MAX_PAGES = 40_000;
const MAX_WAIT_MS = 5_000;

export class Checkpointer {
  readonly onFailedSync: (error: Error) => void;
  readonly #file: string;
  readonly #working = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #worker: Worker | null = null;
  #isWorking = false;
  #isStopped = false;

  constructor(file: string, onFailedSync: (message: string) => void) {
    this.#file = file;
    this.onFailedSync = ({ message }) => {
      if (!this.#isStopped) onFailedSync(message);
      this.#isStopped = true;
    };
  }

  /** Starts or finishes a checkpoint of a long log; called after each commit. Throws `StoreUnavailable`. */
  continue(connection: Connection): void {
    const { written, copied } = connection.logPages();
    if (written < CHECKPOINT_PAGES || this.#isStopped) return;
    if (this.#isWorking) {
      if (written >= MAX_PAGES) this.wait();
    } else if (written - copied <= MAX_WRITER_PAGES || !this.#start()) connection.checkpoint();
  }

  /** Waits for the end of a checkpoint. */
  wait(): void {
    Atomics.wait(this.#working, 0, 1, MAX_WAIT_MS);
  }

  stop(): void {
    this.#worker?.postMessage('stop' satisfies CheckpointerRequest);
  }

  /** Returns false if the system cannot create a thread. */
  #start(): boolean {
    try {
      this.#worker ??= this.#newWorker();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_INIT_FAILED') return false;
      throw error;
    }
    this.#isWorking = true;
    Atomics.store(this.#working, 0, 1);
    this.#worker.postMessage('start' satisfies CheckpointerRequest);
    return true;
  }

  #newWorker(): Worker {
    const workerData: CheckpointerFile = {
      file: this.#file,
      working: this.#working.buffer as SharedArrayBuffer,
    };
    const worker = startThread('store/sqlite/writer/checkpointer-thread', {
      workerData,
      trackUnmanagedFds: false,
      resourceLimits: { maxYoungGenerationSizeMb: 1 },
    });
    worker.on('message', ({ failedSync }: CheckpointerReply) => {
      if (failedSync === null) this.#isWorking = false;
      else this.onFailedSync(new Error(failedSync));
    });
    return worker;
  }
}
