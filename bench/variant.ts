// The service, composed as `src/app.ts` composes it, in ways that the product does not offer: to measure what its
// batches and its writer thread are worth, and what batches cost.
//
//   node bench/variant.ts [--transaction-each] [--writer-on-serving-thread] [--no-batches]

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config.ts';
import { addRoutes } from '../src/http/routes.ts';
import { RunningOperations } from '../src/http/running-operations.ts';
import { createServer } from '../src/http/server.ts';
import { createLog } from '../src/log.ts';
import { IdLease } from '../src/operations/id-lease.ts';
import { Turns } from '../src/operations/turns.ts';
import { BatchedStore } from '../src/store/batched-store.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { openCommandStore, openServingStore } from '../src/store/sqlite/store.ts';
import type { Command, Query, Store } from '../src/store/store.ts';
import { loadKeyRing } from '../src/token-keys.ts';

/** The timer of the monitor; it is in each delay that it shows. */
const RESOLUTION_MS = 1;

export interface EventLoopDelay {
  p99Ms: number;
  maxMs: number;
}

const { values } = parseArgs({
  options: {
    'transaction-each': { type: 'boolean' },
    'writer-on-serving-thread': { type: 'boolean' },
    'no-batches': { type: 'boolean' },
  },
});
const config = readConfig(process.env);
const adapter = await openAdapter();
const batches = { maxBatch: 256, maxInFlight: 1, patienceMs: 0, maxQueued: config.queueLimit };
// Many transactions in flight, so that the writer always has the next one at hand.
const singles = { maxBatch: 1, maxInFlight: 64, patienceMs: 0, maxQueued: config.queueLimit };
const store = values['no-batches']
  ? unbatched(adapter)
  : BatchedStore.of(adapter, { read: batches, write: values['transaction-each'] ? singles : batches });
const context = {
  store,
  keyRing: await loadKeyRing(config, store),
  teamIds: new IdLease(store, 'team_id'),
  turns: new Turns(),
  clock: Date.now,
  defaultGracePeriodSeconds: config.defaultGracePeriodSeconds,
};
const server = createServer({ config, log: await createLog(config), phase: () => 'serving' });
addRoutes(server, { context, limit: null, running: new RunningOperations() }, async () => {});

const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
// The delays since the last time that this was asked.
server.get('/event-loop-delay', async (): Promise<EventLoopDelay> => {
  const [p99Ms, maxMs] = [delays.percentile(99), delays.max].map((ns) => ns / 1_000_000 - RESOLUTION_MS);
  delays.reset();
  return { p99Ms: p99Ms!, maxMs: maxMs! };
});
await server.listen({ host: config.host, port: config.port });

async function openAdapter(): Promise<Store> {
  const { databaseUrl } = config;
  if (databaseUrl.engine === 'sqlite') {
    const open = values['writer-on-serving-thread'] ? openCommandStore : openServingStore;
    return open(databaseUrl.path);
  }
  return openPostgresStore({
    url: databaseUrl.url,
    poolSize: config.postgresPoolSize,
    connectTimeoutMs: config.postgresConnectTimeoutMs,
    statementTimeoutMs: config.postgresStatementTimeoutMs,
    sessionSettings: true,
    preparedStatements: true,
  });
}

/** Everything leaves by itself and at once: what a client would have that is alone, if there were no batches. */
function unbatched(store: Store): BatchedStore {
  return {
    until: () => unbatched(store),
    inTime: (promise) => promise,
    admit: () => {},
    admitWrite: () => {},
    foresee: () => {},
    read: async (query) => (await store.read([query as Query]))[0],
    write: async (command) => (await store.write([command as Command]))[0],
  } as Pick<BatchedStore, keyof BatchedStore> as BatchedStore;
}
