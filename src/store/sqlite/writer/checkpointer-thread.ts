// The checkpointer thread: copies the log into the database and syncs it, while the writer commits.

import { fsyncSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { StoreUnavailable } from '../../port.ts';
import { Connection } from '../file/connection.ts';
import { guard, isFailedSync } from '../file/file-error.ts';

export interface CheckpointerFile {
  file: string;
  /** 1 while the thread works; wakes a writer that waits for its end. */
  working: SharedArrayBuffer;
}

/** Starts a checkpoint, or stops the thread. */
export type CheckpointerRequest = 'start' | 'stop';
/** The checkpoint has ended. `failedSync`: the message of the error. */
export interface CheckpointerReply {
  failedSync: string | null;
}

const MAX_PASSES = 4;
/** Number of pages that the writer copies and syncs in a few milliseconds. */
const REST_PAGES = 200;

const { file, working: workingMemory } = workerData as CheckpointerFile;
const working = new Int32Array(workingMemory);
/** Never closed: closing a descriptor of the file releases all locks of the process on it, SQLite's too. */
let descriptor: number | null = null;
let connection: Connection | null = null;
let failedSync: string | null = null;

parentPort!.on('message', (request: CheckpointerRequest) => {
  if (request === 'stop') return stop();
  copyLog();
  parentPort!.postMessage({ failedSync } satisfies CheckpointerReply);
  Atomics.store(working, 0, 0);
  Atomics.notify(working, 0);
});

function copyLog(): void {
  try {
    connection ??= new Connection(file, undefined, reportFailedSync);
    // Each pass copies what was appended during the one before; none copies what a reader's snapshot still needs.
    for (let pass = 0, before = -1; pass < MAX_PASSES; pass++) {
      connection.checkpoint();
      // SQLite syncs the database only after copying all of the log.
      sync();
      const { written, copied } = connection.logPages();
      if (written - copied <= REST_PAGES || copied === before) break;
      before = copied;
    }
  } catch (error) {
    if (isFailedSync(error)) reportFailedSync(error as Error);
    else if (!(error instanceof StoreUnavailable)) throw error;
    connection?.close();
    connection = null;
  }
}

function sync(): void {
  guard(() => {
    descriptor ??= openSync(file, 'r');
    fsyncSync(descriptor);
  });
}

function reportFailedSync({ message }: Error): void {
  failedSync ??= message;
}

function stop(): void {
  connection?.close();
  parentPort!.close();
}
