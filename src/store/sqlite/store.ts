// The store on one SQLite file: reads on the thread that serves, writes on a thread of their own.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createdUserGroup } from '../rows.ts';
import {
  type Command,
  type CommandResult,
  type NewUserGroup,
  type Query,
  type QueryResult,
  type Store,
  StoreUnavailable,
} from '../store.ts';
import { Connection } from './connection.ts';
import { identityOf, makeFile } from './file.ts';
import { migrate } from './migrate.ts';
import { Reader } from './reader.ts';
import { Writer } from './writer.ts';
import type { WriterFile, WriterReply, WriterRequest } from './writer-thread.ts';

/**
 * Opens the file for a serving process, in its newest schema. Throws `StoreUnavailable` where it cannot be opened.
 *
 * The connection that reads stays open through all trouble: while there is one, SQLite knows where the last whole
 * commit of its log ends. One that opens the log alone takes for committed what is whole in it, which after a failed
 * sync is more than what the disk has.
 */
export function openServingStore(path: string): Store {
  const file = makeFile(path);
  const connection = open(file, (opened) => {
    opened.settleLog();
    migrate(opened);
  });
  const reader = new Reader(connection);
  const writer = new WriterThread({ file, identity: identityOf(file) });
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
  let migrations: string[] = [];
  const connection = open(makeFile(path), (opened) => {
    migrations = migrate(opened);
  });
  const reader = new Reader(connection);
  const writer = new Writer(connection);
  return {
    migrations,
    read: (queries: readonly Query[]): QueryResult[] => reader.run(queries),
    write: async (commands: readonly Command[]): Promise<CommandResult[]> => writer.run(commands),
    close: async () => connection.close(),
  };
}

function open(file: string, prepare: (connection: Connection) => void): Connection {
  const connection = new Connection(file);
  try {
    prepare(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Like the executable, a thread keeps compiled code: without it a clone loads the type stripper again, 12 MB. */
const WITH_COMPILE_CACHE = `
  require('node:module').enableCompileCache?.();
  import(require('node:worker_threads').workerData.thread);
`;

interface Waiting {
  commands: readonly Command[];
  resolve: (results: CommandResult[]) => void;
  reject: (error: Error) => void;
}

class WriterThread {
  readonly #file: WriterFile;
  /** In the order in which the thread answers. */
  readonly #waiting: Waiting[] = [];
  #worker: Worker | null = null;
  #isClosed = false;

  constructor(file: WriterFile) {
    this.#file = file;
  }

  run(commands: readonly Command[]): Promise<CommandResult[]> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('SQLite: the file is closed'));
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      this.#worker.postMessage(JSON.stringify(commands) satisfies WriterRequest);
      // Last: what could not be sent has no answer, and would take that of another batch.
      this.#waiting.push({ commands, resolve, reject });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#worker === null) return;
    const exited = once(this.#worker, 'exit');
    this.#worker.postMessage(null satisfies WriterRequest);
    await exited;
  }

  #start(): Worker {
    // The compiled thread stands beside the compiled store.
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    const thread = new URL(`./writer-thread${extension}`, import.meta.url).href;
    const worker = newWorker({ thread, ...this.#file });
    let cause: unknown;
    worker.on('message', (reply: string) => this.#settle(JSON.parse(reply)));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => this.#end(cause));
    return worker;
  }

  /** Whatever has ended the thread, the next batch starts another one. What it worked on may have happened. */
  #end(cause: unknown): void {
    this.#worker = null;
    const message = `SQLite: the thread that writes has ended${cause instanceof Error ? `: ${cause.message}` : ''}`;
    for (const { reject } of this.#waiting.splice(0)) reject(new StoreUnavailable(message, { cause }));
  }

  #settle(reply: WriterReply): void {
    const { commands, resolve, reject } = this.#waiting.shift()!;
    if ('results' in reply) {
      resolve(reply.results.map((result, index) => (result === 'made' ? made(commands[index]!) : result)));
    } else {
      reject(reply.unavailable ? new StoreUnavailable(reply.error) : new Error(reply.error));
    }
  }
}

/** Throws `StoreUnavailable` where the system has no thread to give. */
function newWorker(workerData: WriterFile & { thread: string }): Worker {
  try {
    // It holds one batch at a time.
    const resourceLimits = { maxYoungGenerationSizeMb: 8 };
    return new Worker(WITH_COMPILE_CACHE, { eval: true, workerData, resourceLimits });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_WORKER_INIT_FAILED') throw error;
    throw new StoreUnavailable(`SQLite: the thread that writes cannot be started: ${message}`, {
      cause: error,
    });
  }
}

function made(command: Command): CommandResult<'createUserGroup'> {
  return { created: true, userGroup: createdUserGroup(command as NewUserGroup & Command) };
}
