// The SQLite adapter: reads on the main thread, writes on a worker thread.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Tenant } from '../../domain/event/event.ts';
import { NO_EVENT_QUOTA } from '../../domain/event/quota.ts';
import { createdUserGroup } from '../entities.ts';
import { UNOBSERVED } from '../migration.ts';
import {
  type Command,
  type CommandResult,
  type MigratedStore,
  type NewUserGroup,
  type Query,
  type QueryResult,
  StoreUnavailable,
} from '../port.ts';
import { runCommands } from './command-executors.ts';
import { Connection } from './file/connection.ts';
import { identityOf, makeFile } from './file/file.ts';
import { runQueries } from './query-executors.ts';
import { migrate } from './schema/migrate.ts';
import { encodeCommands } from './writer/writer-message.ts';
import type { WriterFile, WriterReply, WriterRequest } from './writer/writer-thread.ts';

/**
 * Opens the file for a serving process and migrates it. Throws `StoreUnavailable`.
 *
 * The reading connection stays open even while writes fail: it keeps SQLite aware of where the last commit in the log
 * ends. A connection that opens the log on its own treats every complete frame as committed, which after a failed sync
 * is more than what is on disk.
 */
export function openServingStore(
  path: string,
  eventQuota = NO_EVENT_QUOTA,
  migrationObserver = UNOBSERVED,
): MigratedStore {
  const file = makeFile(path);
  let schema = 0;
  const connection = open(file, (opened) => {
    opened.syncLog();
    schema = migrate(opened, migrationObserver);
  });
  const writer = new WriterThread(
    { file, identity: identityOf(file), eventBytesPerDay: eventQuota.bytesPerDay },
    eventQuota.onReduced,
  );
  return {
    schema,
    read: (queries) => runQueries(connection, queries),
    write: (commands) => writer.run(commands),
    close: async () => {
      await writer.close();
      connection.close();
    },
  };
}

/** Opens the file for a command, which may run while a process is serving it. */
export function openCommandStore(path: string, migrationObserver = UNOBSERVED): MigratedStore {
  let schema = 0;
  const connection = open(makeFile(path), (opened) => {
    schema = migrate(opened, migrationObserver);
  });
  return {
    schema,
    read: (queries: readonly Query[]): QueryResult[] => runQueries(connection, queries),
    write: async (commands: readonly Command[]): Promise<CommandResult[]> =>
      runCommands(connection, commands),
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

/** Enables the compile cache, as the executable does: without it, a clone loads the type stripper again (12 MB). */
const WITH_COMPILE_CACHE = `
  require('node:module').enableCompileCache?.();
  import(require('node:worker_threads').workerData.thread);
`;

interface PendingBatch {
  commands: readonly Command[];
  resolve: (results: CommandResult[]) => void;
  reject: (error: Error) => void;
}

class WriterThread {
  readonly #file: WriterFile;
  readonly #onReduced: (tenant: Tenant) => void;
  /** In the order of the thread's replies. */
  readonly #pending: PendingBatch[] = [];
  #worker: Worker | null = null;
  #isClosed = false;

  constructor(file: WriterFile, onReduced: (tenant: Tenant) => void) {
    this.#file = file;
    this.#onReduced = onReduced;
  }

  run(commands: readonly Command[]): Promise<CommandResult[]> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('SQLite: the file is closed'));
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      this.#worker.postMessage(encodeCommands(commands) satisfies WriterRequest);
      // After posting: a batch that could not be posted gets no reply, and would take another batch's.
      this.#pending.push({ commands, resolve, reject });
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
    // .ts in a clone, .js in the package.
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    const thread = new URL(`./writer/writer-thread${extension}`, import.meta.url).href;
    const worker = newWorker({ thread, ...this.#file });
    let cause: unknown;
    worker.on('message', (reply: string) => this.#receive(JSON.parse(reply)));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => this.#rejectPending(cause));
    return worker;
  }

  /** The next batch starts another thread. The pending batches may have been applied. */
  #rejectPending(cause: unknown): void {
    this.#worker = null;
    const message = `SQLite: the writer thread exited${cause instanceof Error ? `: ${cause.message}` : ''}`;
    for (const { reject } of this.#pending.splice(0)) reject(new StoreUnavailable(message, { cause }));
  }

  #receive(reply: WriterReply): void {
    const { commands, resolve, reject } = this.#pending.shift()!;
    for (const tenant of reply.reduced ?? []) this.#onReduced(tenant);
    if ('results' in reply) {
      resolve(
        reply.results.map((result, index) => {
          const command = commands[index]!;
          const isAbbreviated = result === 'created' && command.kind === 'createUserGroup';
          return isAbbreviated ? created(command) : result;
        }),
      );
    } else {
      reject(reply.unavailable ? new StoreUnavailable(reply.error) : new Error(reply.error));
    }
  }
}

/** Throws `StoreUnavailable` if the system cannot create a thread. */
function newWorker(workerData: WriterFile & { thread: string }): Worker {
  try {
    // The thread holds one batch at a time.
    const resourceLimits = { maxYoungGenerationSizeMb: 8 };
    return new Worker(WITH_COMPILE_CACHE, { eval: true, workerData, resourceLimits });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_WORKER_INIT_FAILED') throw error;
    throw new StoreUnavailable(`SQLite: cannot start the writer thread: ${message}`, {
      cause: error,
    });
  }
}

function created(command: Command): CommandResult<'createUserGroup'> {
  return { created: true, userGroup: createdUserGroup(command as NewUserGroup & Command) };
}
