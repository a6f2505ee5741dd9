// From the settings to an open store: the only place that knows which adapters there are.

import { existsSync } from 'node:fs';
import type { Config, DatabaseUrl } from './config.ts';
import { BatchedStore } from './store/batcher.ts';
import { lockForServing } from './store/sqlite/lock.ts';
import { openCommandStore, openServingStore } from './store/sqlite/store.ts';

const MAX_BATCH = 256;

export interface Database {
  store: BatchedStore;
  close(): Promise<void>;
}

export interface CommandDatabase extends Database {
  /** The migrations that ran when it was opened. */
  migrations: string[];
}

/** Opens the database for a process that serves. Throws `StoreUnavailable` and `AlreadyServed`. */
export function openForServing({
  databaseUrl,
  queueLimit,
}: Pick<Config, 'databaseUrl' | 'queueLimit'>): Database {
  const lock = lockForServing(databaseUrl.path);
  try {
    const store = openServingStore(databaseUrl.path);
    const close = async () => {
      await store.close();
      lock.close();
    };
    const limits = { maxBatch: MAX_BATCH, maxInFlight: 1, maxQueued: queueLimit };
    return { store: new BatchedStore(store, { read: limits, write: limits }), close };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Opens the database for a command that may run beside a serving process. Throws `StoreUnavailable`. */
export function openForCommand({
  databaseUrl,
  queueLimit,
}: Pick<Config, 'databaseUrl' | 'queueLimit'>): CommandDatabase {
  const store = openCommandStore(databaseUrl.path);
  const limits = { maxBatch: MAX_BATCH, maxInFlight: 1, maxQueued: queueLimit };
  return {
    store: new BatchedStore(store, { read: limits, write: limits }),
    migrations: store.migrations,
    close: () => store.close(),
  };
}

/** Whether there is a database already; a server that is asked over a network is taken to have one. */
export function databaseExists({ path }: DatabaseUrl): boolean {
  return existsSync(path);
}
