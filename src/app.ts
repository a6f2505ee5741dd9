// The composition root: builds a running service from the settings.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Logger } from 'pino';
import {
  type Config,
  configMessage,
  operationSettings,
  refuseSharedAddress,
  servingThreads,
} from './config.ts';
import { type Database, openForServing, type ServingOptions } from './database.ts';
import { OutageLog, untilAvailable } from './database-outage.ts';
import type { KeyRing } from './domain/key-ring.ts';
import type { Tenant } from './domain/tenant.ts';
import { type MetricsServer, startMetricsServer } from './http/metrics-server.ts';
import { keyFilePath, loadKeyRing, registerActiveKey } from './key-ring-source.ts';
import { writeLine } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';
import { MigrationLog } from './migration-log.ts';
import { ensureBootstrapApiToken } from './operations/api-token/bootstrap.ts';
import { type Context, createContext } from './operations/context.ts';
import { FeedDelay } from './operations/event/feed-delay.ts';
import { EventRetention } from './operations/event/retention.ts';
import { PropertyValidator } from './operations/property-schema/validator/validator.ts';
import { ReducedEventLog } from './reduced-event-log.ts';
import { SharedClock } from './scheduling/shared-clock.ts';
import { unlessAborted } from './scheduling/timeout.ts';
import {
  allocateSharedMemory,
  batchingOptions,
  logUnexpected,
  Serving,
  type Thread,
  threadOf,
} from './serving.ts';
import { StoreUnavailable } from './store/port.ts';
import { crash } from './system/crash.ts';
import { findExposedFiles } from './system/secret-file-permissions.ts';
import { ServingThreads } from './threads/serving-threads.ts';
import { readVersion } from './version.ts';
import { WebhookDispatcher } from './webhooks/dispatcher.ts';

const MAIN_THREAD = 0;

export interface App {
  /** The URL it listens on, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The URL of the metrics; null if they are off. */
  readonly metricsUrl: string | null;
  /** How many threads serve requests. */
  readonly threads: number;
  /** Directory of the sample files of the demo; null on PostgreSQL. */
  readonly demoDirectory: string | null;
  readonly context: Context;
  readonly eventRetention: EventRetention;
  readonly webhooks: WebhookDispatcher;
  /**
   * Rejects with the error that ended a serving thread, after which the caller has to close the app; never
   * resolves.
   */
  readonly failed: Promise<never>;
  /** Shuts down gracefully: reports not ready, refuses new requests, drains requests in flight, closes the database. */
  close(): Promise<void>;
  /** Closes the connections of the main thread after a bug in it, and drains the other threads. */
  abandon(): Promise<void>;
}

interface AppOptions {
  clock?: SharedClock;
  /** Cancels the start. */
  signal?: AbortSignal;
  /** Runs before the service listens, so that what it creates exists when a caller finds the service ready. */
  prepare?: Prepare;
  /** Serving threads that are already loading their modules. */
  threads?: ServingThreads;
}

export type Prepare = (context: Context) => Promise<void>;

/**
 * Starts the service. Throws `ConfigInvalid`, `AddressInUse`, `AlreadyServed`, `StoreUnavailable`, or Node's error if
 * it cannot listen on the port. When `signal` aborts, rejects promptly with any error.
 */
export async function startApp(
  wanted: Config,
  log: Logger,
  {
    clock = new SharedClock(),
    signal = new AbortController().signal,
    prepare,
    threads = ServingThreads.start(wanted),
  }: AppOptions = {},
): Promise<App> {
  const { threads: count, limit } = servingThreads(wanted);
  if (limit !== null) log.warn({ threads: count }, `fewer serving threads than UGS_THREADS: ${limit}`);
  const config = { ...wanted, threads: count };
  let metrics: ServedMetrics | null = null;
  try {
    refuseSharedAddress(config);
    metrics = await startMetrics(config, log);
    return await startWith({ config, log, clock, metrics, prepare, threads }, signal);
  } catch (error) {
    await Promise.all([metrics?.server.close(), threads.terminate()]);
    throw error;
  }
}

interface ServedMetrics {
  metrics: Metrics;
  server: MetricsServer;
}

/**
 * Starts the metrics server first, so that metrics are available while the service waits for its database.
 * Returns null if metrics are off: then nothing is counted.
 */
async function startMetrics(
  { metricsAddress, databaseUrl, threads }: Config,
  log: Logger,
): Promise<ServedMetrics | null> {
  if (metricsAddress === null) return null;
  const { Metrics } = await import('./metrics/metrics.ts');
  const build = { version: readVersion(), database: databaseUrl.engine };
  const metrics = new Metrics(build, threads === 1 ? null : MAIN_THREAD);
  return { metrics, server: await startMetricsServer(metricsAddress, metrics, log) };
}

interface Start {
  config: Config;
  log: Logger;
  clock: SharedClock;
  metrics: ServedMetrics | null;
  prepare: Prepare | undefined;
  onReducedEvent: (tenant: Tenant) => void;
  observer: OutageLog;
  /** Serving threads other than the main one. */
  threads: ServingThreads;
  thread: Thread;
}

async function startWith(
  options: Omit<Start, 'onReducedEvent' | 'observer' | 'thread'>,
  signal: AbortSignal,
): Promise<App> {
  const { config, log, clock, metrics } = options;
  const reducedEvents = new ReducedEventLog(log);
  const onReducedEvent = (tenant: Tenant) => {
    reducedEvents.add(tenant);
    metrics?.metrics.events.reduced();
  };
  const observer = new OutageLog(log);
  const thread = threadOf(MAIN_THREAD, allocateSharedMemory(config));
  const opened = await untilAvailable({ waitMs: config.databaseWaitMs, observer, signal }, () =>
    open(config, clock.now, {
      observer,
      signal,
      onReducedEvent,
      ...batchingOptions(thread, config, log, metrics?.metrics ?? null),
      migrationObserver: new MigrationLog(log),
      onFailedSync: (message) => endAfterFailedSync(log, message),
    }),
  );
  try {
    return await serve({ ...options, ...opened, onReducedEvent, observer, thread }, signal);
  } catch (error) {
    await opened.database.close();
    throw error;
  }
}

/**
 * Ends the process as a crash would. An orderly exit would close the database and so delete the write-ahead
 * log, but after a failed sync only the log is known to be complete. The next start copies it into the
 * database again.
 */
function endAfterFailedSync(log: Logger, message: string): never {
  log.fatal(
    { error: message },
    'the disk could not sync the database file: the process ends, and must be started again',
  );
  crash();
}

interface Opened {
  database: Database;
  keyRing: KeyRing;
}

async function open(config: Config, clock: () => number, options: ServingOptions): Promise<Opened> {
  const database = await openForServing(config, options);
  try {
    const keyRing = await loadKeyRing(config, database.store);
    await registerActiveKey(keyRing, database.store, clock());
    await bootstrap(config, database, clock);
    return { database, keyRing };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Throws `BootstrapApiTokenUnusable`. */
async function bootstrap(config: Config, { store }: Database, clock: () => number): Promise<void> {
  const { bootstrapApiToken, bootstrapWorkspace, bootstrapEnvironment } = config;
  if (bootstrapApiToken === null) return;
  const context = createContext({ ...operationSettings(config), store, clock, via: 'service' });
  await ensureBootstrapApiToken(context, {
    token: bootstrapApiToken,
    workspaceName: bootstrapWorkspace,
    environment: bootstrapEnvironment,
  });
}

/** Parts that serve requests, and those that run beside them once in the process. */
interface Parts {
  serving: Serving;
  propertyValidator: PropertyValidator;
  eventRetention: EventRetention;
  webhooks: WebhookDispatcher;
}

type Running = Start & Opened & Parts;

async function serve(start: Start & Opened, signal: AbortSignal): Promise<App> {
  const { config, log, metrics, prepare, threads, database } = start;
  const secretFiles = [...config.secretFiles, keyFilePath(config) ?? []].flat();
  for (const warning of [...database.warnings, ...findExposedFiles(secretFiles)]) log.warn(warning);
  const running = { ...start, ...createParts(start) };
  const { serving, eventRetention, webhooks } = running;
  const { context, demoDirectory } = serving;
  if (metrics !== null) watch(metrics.metrics, running);
  await unlessAborted(signal, () => openThreads(running));
  await prepare?.(context);
  signal.throwIfAborted();
  const url = await listen(config, serving, threads);
  eventRetention.start();
  if (context.eventRetentionDays > 0) webhooks.start();
  return {
    url,
    metricsUrl: metrics?.server.url ?? null,
    threads: config.threads,
    demoDirectory,
    context,
    eventRetention,
    webhooks,
    failed: threads.failed,
    close: () => close(running),
    abandon: async () => {
      serving.abandon();
      await threads.close();
    },
  };
}

function createParts(start: Start & Opened): Parts {
  const { config, log, thread, database, keyRing } = start;
  const clock = start.clock.now;
  const metrics = start.metrics?.metrics ?? null;
  const propertyValidator = new PropertyValidator();
  const serving = new Serving({ config, thread, log, clock, database, keyRing, propertyValidator, metrics });
  const { context } = serving;
  const eventRetention = new EventRetention({
    store: database.store,
    clock,
    retentionDays: config.eventRetentionDays,
    onFailure: (error) => {
      metrics?.events.retentionFailed();
      const cause = error instanceof StoreUnavailable ? { reason: error.message } : { err: error };
      log.error(cause, 'events: old ones could not be deleted; the next attempt is in five minutes');
    },
    onDoubtfulClock: () =>
      log.warn(
        'events: old ones are not deleted, because the clock may be ahead; the next attempt is in an hour',
      ),
  });
  const webhooks = new WebhookDispatcher({
    context,
    allowsPrivate: context.allowsPrivateWebhooks,
    observer: metrics?.webhooks ?? null,
    log,
    onError: logUnexpected(log, 'webhooks'),
  });
  return { serving, propertyValidator, eventRetention, webhooks };
}

function watch(metrics: Metrics, running: Running): void {
  const { threads, database, serving, eventRetention, webhooks } = running;
  if (database.storage) metrics.watchStorage(database.storage);
  metrics.readiness.watch(() => serving.isReady());
  metrics.watchThreads(() => threads.collectMetrics());
  metrics.events.watchRetention(() => eventRetention);
  const feedDelay = new FeedDelay(database.store);
  metrics.events.watchFeed(() => feedDelay.measure());
  metrics.watchDeliveries(() => webhooks.countPending());
}

/** Opens the other serving threads, which use the writer, the validator and the webhooks of this one. */
async function openThreads(running: Running): Promise<void> {
  const { config, log, clock, thread, threads, observer, onReducedEvent } = running;
  const { database, keyRing, propertyValidator, webhooks } = running;
  const message = {
    config: configMessage(config, keyRing.text),
    server: database.server,
    memory: thread.memory,
    logLevel: log.level,
    logBindings: log.bindings(),
    clock: clock.memory,
  };
  await threads.open(message, {
    log: (line) => writeLine(log, line),
    eventReduced: onReducedEvent,
    databaseUnavailable: (reason) => observer.unavailable(reason),
    connectionRefused: (reason) => observer.connectionRefused(reason),
    databaseAvailable: () => observer.available(),
    wake: (endpoints) => {
      if (config.eventRetentionDays > 0) webhooks.wake(endpoints);
    },
    connectWriter: () => database.connectWriter!(),
    validate: (...check) => propertyValidator.validate(...check),
  });
}

async function close(running: Running): Promise<void> {
  const { config, log, clock, metrics, threads, database, keyRing } = running;
  const { serving, propertyValidator, eventRetention, webhooks } = running;
  // Registers the key again: `key reencrypt` may have unregistered it as unused before this process
  // encrypted tokens with it.
  const registered = registerActiveKey(keyRing, database.store, clock.now()).catch(
    logUnexpected(log, 'token key'),
  );
  const othersClosed = threads.close();
  await serving.drain();
  const delivered = webhooks.stop(config.shutdownTimeoutMs);
  await serving.close();
  await othersClosed;
  await eventRetention.stop();
  await delivered;
  await propertyValidator[Symbol.asyncDispose]();
  await registered;
  await database.close();
  await metrics?.server.close();
}

/**
 * Makes all threads listen. A listener with a shared port does not notice a listener of another process of
 * the same user, which would receive part of the requests; so a configured port is first opened exclusively.
 * A port that the system chooses stays reserved until every thread listens on it. Throws Node's error.
 */
async function listen(
  { host, port, threads }: Config,
  serving: Serving,
  others: ServingThreads,
): Promise<string> {
  if (threads === 1) return serving.listen(host, port);
  const reservation = createServer().listen({ host, port, exclusive: true, reusePort: port === 0 });
  await once(reservation, 'listening');
  const { port: free } = reservation.address() as AddressInfo;
  const release = async () => {
    reservation.close();
    await once(reservation, 'close');
  };
  if (port !== 0) await release();
  try {
    // The main thread listens last, because its listener would keep the process running after a failed start.
    await others.listen(host, free);
    return await serving.listen(host, free);
  } finally {
    if (port === 0) await release();
  }
}
