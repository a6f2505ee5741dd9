// The store adapter of a database without the service: a test decides which commands form a batch.

import type { Store } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openServingStore } from '../../src/store/sqlite/store.ts';
import type { DatabaseKind } from './database.ts';
import { optionsFor } from './postgres/options.ts';

export interface OpenStore {
  store: Store;
  /** Closes the store and drops its database. */
  end(): Promise<void>;
}

export async function openStore(kind: DatabaseKind): Promise<OpenStore> {
  const database = await kind.create();
  const store = await openAt(database.url);
  const end = async () => {
    await store.close();
    await database.drop();
  };
  return { store, end };
}

async function openAt(url: string): Promise<Store> {
  if (url.startsWith('sqlite:')) return openServingStore(url.slice('sqlite:'.length));
  return openPostgresStore(optionsFor(url, { poolSize: 4 }));
}
