// A serving thread besides the main thread, which controls it.

import { parentPort } from 'node:worker_threads';
import { configFromMessage } from '../config.ts';
import { openForThread, type ThreadDatabase } from '../database.ts';
import { KeyRing } from '../domain/key-ring.ts';
import { createThreadLog } from '../log.ts';
import type { ThreadMetrics } from '../metrics/metrics.ts';
import { type Validation, Validator } from '../operations/property-schema/validator/validator.ts';
import { SharedClock } from '../scheduling/shared-clock.ts';
import { batchingOptions, Serving, threadOf } from '../serving.ts';
import type { StoreObserver } from '../store/port.ts';
import { onDueDeliveries } from '../webhooks/written-deliveries.ts';
import { callMain, type ThreadStart } from './calls.ts';

const port = parentPort!;
let database: ThreadDatabase;
let serving: Serving;
let metrics: ThreadMetrics | null = null;

const main = callMain(port, {
  open,
  listen: async (host, listeningPort) => {
    await serving.listen(host, listeningPort);
  },
  collectMetrics: async () => (await metrics?.collect()) ?? [],
  close: async () => {
    await serving.drain();
    await serving.close();
    await database.close();
    // Without the port, nothing keeps the thread alive.
    port.close();
  },
});

async function open({
  thread: number,
  config: message,
  server,
  memory,
  logLevel,
  logBindings,
  clock: clockMemory,
}: ThreadStart): Promise<void> {
  const config = configFromMessage(message);
  const thread = threadOf(number, memory);
  const log = createThreadLog(logLevel, { ...logBindings, thread: number }, (line) => void main.log(line));
  const clock = new SharedClock(clockMemory);
  if (config.metricsAddress !== null) {
    const { ThreadMetrics } = await import('../metrics/metrics.ts');
    metrics = new ThreadMetrics(number);
  }
  database = await openForThread(
    config,
    { server, connectWriter: () => main.connectWriter() },
    {
      observer: outages(),
      onReducedEvent: (tenant) => void main.eventReduced(tenant),
      ...batchingOptions(thread, config, log, metrics),
    },
  );
  onDueDeliveries(database.store, (endpoints) => void main.wake(endpoints));
  serving = new Serving({
    config,
    thread,
    log,
    clock: clock.now,
    database,
    keyRing: KeyRing.parse(config.tokenKeys),
    propertyValidator: new RemoteValidator(),
    metrics,
  });
}

/** Checks properties in the threads of the main thread, which divide their time among all workspaces. */
class RemoteValidator extends Validator {
  validate(...check: Parameters<Validator['validate']>): Promise<Validation> {
    return main.validate(...check);
  }
}

/** Tells the main thread when an outage begins and ends: it logs those of all threads as one. */
function outages(): StoreObserver {
  let isUnavailable = false;
  return {
    unavailable: (reason) => {
      if (!isUnavailable) void main.databaseUnavailable(reason);
      isUnavailable = true;
    },
    connectionRefused: (reason) => void main.connectionRefused(reason),
    available: () => {
      if (isUnavailable) void main.databaseAvailable();
      isUnavailable = false;
    },
  };
}
