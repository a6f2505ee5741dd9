// The store on one SQLite file: reads on the thread that serves, writes on a thread of their own.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  type Command,
  type CommandResult,
  type Query,
  type QueryResult,
  type Store,
  StoreUnavailable,
} from '../store.ts';
import { Connection } from './connection.ts';
import { migrate } from './migrate.ts';
import { Reader } from './reader.ts';
import { Writer } from './writer.ts';
import type { WriterReply, WriterRequest } from './writer-thread.ts';

/** Opens the file for a serving process, in its newest schema. Throws `StoreUnavailable` where it cannot be opened. */
export function openServingStore(path: string): Store {
  const { connection } = openMigrated(path);
  const reader = new Reader(connection);
  const writer = new WriterThread(path);
  return {
    read: (queries) => reader.run(queries),
    write: (commands) => writer.run(commands),
    close: async () => {
      await writer.close();
      connection.close();
    },
  };
}

/** Opens the file for a command that works beside a serving process. */
export function openCommandStore(path: string): Store & { migrations: string[] } {
  const { connection, migrations } = openMigrated(path);
  const reader = new Reader(connection);
  const writer = new Writer(connection);
  return {
    migrations,
    read: (queries: readonly Query[]): QueryResult[] => reader.run(queries),
    write: async (commands: readonly Command[]): Promise<CommandResult[]> => writer.run(commands),
    close: async () => connection.close(),
  };
}

function openMigrated(path: string): { connection: Connection; migrations: string[] } {
  const connection = new Connection(path);
  return { connection, migrations: migrate(connection) };
}

/** Like the executable, a thread keeps compiled code: without it a clone loads the type stripper again, 12 MB. */
const WITH_COMPILE_CACHE = `
  require('node:module').enableCompileCache?.();
  import(require('node:worker_threads').workerData.thread);
`;

class WriterThread {
  readonly #worker: Worker;
  /** In the order in which the thread answers. */
  readonly #waiting: { resolve: (results: CommandResult[]) => void; reject: (error: Error) => void }[] = [];
  #ended = false;

  constructor(path: string) {
    // The compiled thread stands beside the compiled store.
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    const thread = new URL(`./writer-thread${extension}`, import.meta.url).href;
    this.#worker = new Worker(WITH_COMPILE_CACHE, {
      eval: true,
      workerData: { thread, path },
      // It holds one batch at a time.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    this.#worker.on('message', (reply: string) => this.#settle(JSON.parse(reply)));
    this.#worker.on('error', (error) => {
      this.#end();
      // A writer that dies is a bug: the process ends and its supervisor starts a new one.
      throw error;
    });
    this.#worker.on('exit', () => this.#end());
  }

  run(commands: readonly Command[]): Promise<CommandResult[]> {
    if (this.#ended) return Promise.reject(new StoreUnavailable('SQLite: the writer has ended'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(JSON.stringify(commands) satisfies WriterRequest);
    });
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    const exited = once(this.#worker, 'exit');
    this.#worker.postMessage(null satisfies WriterRequest);
    await exited;
  }

  #settle(reply: WriterReply): void {
    const waiting = this.#waiting.shift();
    if ('results' in reply) waiting?.resolve(reply.results);
    else waiting?.reject(reply.unavailable ? new StoreUnavailable(reply.error) : new Error(reply.error));
  }

  #end(): void {
    this.#ended = true;
    for (const { reject } of this.#waiting.splice(0))
      reject(new StoreUnavailable('SQLite: the writer has ended'));
  }
}
