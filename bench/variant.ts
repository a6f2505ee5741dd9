// Composes the service as `src/app.ts` does, but with variants that the product does not offer, to measure
// the benefit of batches.
//
//   node bench/variant.ts [--transaction-each] [--no-batches]

import { parseArgs } from 'node:util';
import { readConfig } from '../src/config.ts';
import { userGroupKey } from '../src/domain/user-group/user-group.ts';
import { addRoutes } from '../src/http/routes.ts';
import { createServer } from '../src/http/server.ts';
import { loadKeyRing } from '../src/key-ring-source.ts';
import { createLog } from '../src/log.ts';
import { createContext } from '../src/operations/context.ts';
import { UNKNOWN_TENANT } from '../src/scheduling/fair-queue.ts';
import { ThreadSum } from '../src/scheduling/thread-sum.ts';
import { BatchingStore } from '../src/store/batching-store.ts';
import type { Command, Query, Store } from '../src/store/port.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { openServingStore } from '../src/store/sqlite/store.ts';
import { unlimitedRoutes } from '../test/support/api-description/route-options.ts';

const { values } = parseArgs({
  options: {
    'transaction-each': { type: 'boolean' },
    'no-batches': { type: 'boolean' },
  },
});
const config = readConfig(process.env);
const adapter = await openAdapter();
const batches = { maxBatch: 256, maxInFlight: 1, maxLingerMs: 0, maxQueued: config.queueLimit };
// Many transactions are in flight, so that the writer never waits for the next one.
const singles = { maxBatch: 1, maxInFlight: 64, maxLingerMs: 0, maxQueued: config.queueLimit };
const store = values['no-batches']
  ? unbatched(adapter)
  : BatchingStore.create(adapter, { read: batches, write: values['transaction-each'] ? singles : batches });
const { defaultGracePeriodSeconds } = config;
const context = {
  ...createContext({ store, defaultGracePeriodSeconds, via: 'api' }),
  keyRing: await loadKeyRing(config, store),
};
const server = createServer({
  config,
  connections: {
    open: new ThreadSum(ThreadSum.allocate(1), 0),
    kept: new ThreadSum(ThreadSum.allocate(1), 0),
  },
  log: await createLog(config),
  phase: () => 'serving',
  publicLimit: null,
  metrics: null,
  arrivals: { guessTenant: () => UNKNOWN_TENANT, activity: context.activity, findClient: () => '' },
});
addRoutes(server, unlimitedRoutes(context));

await server.listen({ host: config.host, port: config.port });

async function openAdapter(): Promise<Store> {
  const { databaseUrl } = config;
  if (databaseUrl.engine === 'sqlite') return openServingStore(databaseUrl.path);
  return openPostgresStore({
    urls: [databaseUrl.url],
    poolSize: config.postgresPoolSize,
    connectTimeoutMs: config.postgresConnectTimeoutMs,
    statementTimeoutMs: config.postgresStatementTimeoutMs,
    sessionSettings: true,
    preparedStatements: true,
  });
}

/**
 * Sends every query and command immediately and separately, which shows what a single client would get
 * without batches.
 */
function unbatched(store: Store): BatchingStore {
  return {
    until: () => unbatched(store),
    forTenant: () => unbatched(store),
    inTime: (promise) => promise,
    userGroupKey,
    queueLengths: { read: 0, list: 0, write: 0 },
    hasWritten: false,
    admits: () => true,
    admitsWrite: () => true,
    onWrite: () => {},
    prefetch: () => {},
    read: async (query) => (await store.read([query as Query]))[0],
    write: async (command) => (await store.write([command as Command]))[0],
  } as Pick<BatchingStore, keyof BatchingStore> as BatchingStore;
}
