// Client of the writer thread, for its owner: starts it with the first batch, and again after it has failed.

import { once } from 'node:events';
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import type { Tenant } from '../../../domain/tenant.ts';
import { startThread } from '../../../system/start-thread.ts';
import { type Command, type CommandResult, StoreUnavailable } from '../../port.ts';
import { PendingBatches } from './pending-batches.ts';
import type { WriterFile, WriterNotice, WriterReply, WriterRequest } from './writer-thread.ts';

/** Connection of another thread to the writer. */
export interface WriterConnection {
  port: MessagePort;
  posted: SharedArrayBuffer;
}

export interface WriterObserver {
  /** The quota of the environment has reduced an event. */
  onReduced: (tenant: Tenant) => void;
  /** A checkpoint could not sync a file: the process must end without closing the database. */
  onFailedSync: (message: string) => void;
}

export class Writer {
  readonly #file: WriterFile;
  readonly #observer: WriterObserver;
  readonly #pending: PendingBatches;
  #worker: Worker | null = null;
  #isClosed = false;

  constructor(file: Omit<WriterFile, 'posted'>, observer: WriterObserver) {
    const posted = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    this.#file = { ...file, posted };
    this.#pending = new PendingBatches(posted);
    this.#observer = observer;
  }

  async run(commands: readonly Command[]): Promise<CommandResult[]> {
    return await this.#pending.send(this.#running(), commands);
  }

  /** Connects another thread to the writer. The port closes when the writer thread exits. */
  connect(): WriterConnection {
    const { port1, port2 } = new MessageChannel();
    this.#running().postMessage({ client: port1 } satisfies WriterRequest, [port1]);
    return { port: port2, posted: this.#file.posted };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#worker === null) return;
    const exited = once(this.#worker, 'exit');
    this.#worker.postMessage(null satisfies WriterRequest);
    await exited;
  }

  /** Throws `StoreUnavailable`. */
  #running(): Worker {
    if (this.#isClosed) throw new StoreUnavailable('SQLite: the file is closed');
    this.#worker ??= this.#start();
    return this.#worker;
  }

  #start(): Worker {
    const worker = newWorker(this.#file);
    let cause: unknown;
    worker.on('message', (message: string) => this.#receive(JSON.parse(message)));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      // The next batch starts another thread.
      this.#worker = null;
      this.#pending.rejectAll(cause);
    });
    return worker;
  }

  #receive(message: WriterReply | WriterNotice): void {
    if ('reduced' in message) message.reduced.forEach(this.#observer.onReduced);
    else if ('failedSync' in message) this.#observer.onFailedSync(message.failedSync);
    else this.#pending.receive(message);
  }
}

/** Throws `StoreUnavailable` if the system cannot create a thread. */
function newWorker(workerData: WriterFile): Worker {
  try {
    // Creates do not reach it. With a serving thread's limit, schemas of 64 KiB let the heap grow to 55 MB.
    const resourceLimits = { maxYoungGenerationSizeMb: 16 };
    return startThread('store/sqlite/writer/writer-thread', { workerData, resourceLimits });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_WORKER_INIT_FAILED') throw error;
    throw new StoreUnavailable(`SQLite: cannot start the writer thread: ${message}`, {
      cause: error,
    });
  }
}
