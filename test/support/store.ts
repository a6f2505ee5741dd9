// Opens the store adapter of a database without the service, so that a test decides which commands form a
// batch.

import { before } from 'node:test';
import type { Store } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openServingStore } from '../../src/store/sqlite/store.ts';
import type { DatabaseKind } from './database.ts';
import { createDatabase, inDatabase } from './postgres/node.ts';
import { optionsFor } from './postgres/options.ts';
import { suiteStack } from './suite.ts';

/** Returns the store of a suite, which is open from before its tests until after them. */
export function storeOf(kind: DatabaseKind): { readonly store: Store } {
  const stack = suiteStack();
  const opened = {} as { store: Store };
  before(async () => {
    const database = stack.use(await kind.createForService());
    opened.store = await openStore(database.url);
    stack.defer(() => opened.store.close());
  });
  return opened;
}

export async function openStore(url: string): Promise<Store> {
  if (url.startsWith('sqlite:')) return openServingStore(url.slice('sqlite:'.length));
  return openPostgresStore(optionsFor(url, { poolSize: 4 }));
}

/** Creates the database whose schema others copy, because migrating each takes the server as long as copying. */
export async function createTemplate(server: string): Promise<string> {
  const name = 'user_group_service_template';
  await createDatabase(new URL(server), name);
  await (await openStore(inDatabase(new URL(server), name).href)).close();
  return name;
}
