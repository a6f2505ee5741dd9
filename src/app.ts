// The composition root: builds a running service from the settings.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { addConsole } from './console/routes.ts';
import { type Database, openForServing, type ServingOptions } from './database.ts';
import { OutageLog, untilAvailable } from './database-outage.ts';
import { demoDirectoryOf } from './demo/sample-file.ts';
import type { Tenant } from './domain/event/event.ts';
import type { KeyRing } from './domain/key-ring.ts';
import { BodyAdmission } from './http/limits/body-admission.ts';
import { InFlight } from './http/limits/in-flight.ts';
import { PublicLimit } from './http/limits/public-limit.ts';
import { rateLimit } from './http/limits/rate-limit.ts';
import { UnreadResponses } from './http/limits/response-backpressure.ts';
import { type MetricsServer, startMetricsServer } from './http/metrics-server.ts';
import { Prefetcher } from './http/prefetch.ts';
import { addRoutes } from './http/routes.ts';
import { createServer, type Phase } from './http/server.ts';
import { keyFileOf, loadKeyRing, registerActiveKey } from './key-ring-source.ts';
import type { Metrics } from './metrics/metrics.ts';
import { MigrationLog } from './migration-log.ts';
import { ensureBootstrapApiToken } from './operations/api-token/bootstrap.ts';
import { type Context, createContext } from './operations/context.ts';
import { EnvironmentConfigs } from './operations/document/environment-config.ts';
import { EventRetention } from './operations/event/retention.ts';
import { Problem } from './problem.ts';
import { ReducedEventLog } from './reduced-event-log.ts';
import { withDeadline } from './scheduling/timeout.ts';
import type { Migrations } from './store/migration.ts';
import { StoreUnavailable } from './store/port.ts';
import { findExposedFiles } from './system/secret-file-permissions.ts';
import { readVersion } from './version.ts';
import { WebhookDispatcher } from './webhooks/dispatcher.ts';
import { WebhookEndpointLog } from './webhooks/endpoint-log.ts';

/** A readiness check that takes longer fails. */
const READY_TIMEOUT_MS = 2_000;
const IDLE_CHECK_MS = 50;
/**
 * Length of the queue of connections that the process has not accepted yet; the Linux default limit is the same. With
 * Node's default of 511, a burst overflows the queue and clients wait a second until TCP retransmits the SYN.
 */
const BACKLOG = 4_096;

export interface App {
  /** The URL it listens on, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The URL of the metrics; null if they are off. */
  readonly metricsUrl: string | null;
  /** Directory of the sample files of the demo; null on PostgreSQL. */
  readonly demoDirectory: string | null;
  readonly context: Context;
  readonly eventRetention: EventRetention;
  readonly webhooks: WebhookDispatcher;
  /** Shuts down gracefully: reports not ready, refuses new requests, drains requests in flight, closes the database. */
  close(): Promise<void>;
}

/**
 * Starts the service. Throws `ConfigInvalid`, `AddressInUse`, `AlreadyServed`, `StoreUnavailable`, or Node's error if
 * it cannot listen on the port. When `signal` aborts, rejects promptly with any error.
 */
export async function startApp(
  config: Config,
  log: Logger,
  clock: () => number = Date.now,
  signal: AbortSignal = new AbortController().signal,
): Promise<App> {
  const metrics = await startMetrics(config, log);
  try {
    return await startWith(metrics, config, log, clock, signal);
  } catch (error) {
    await metrics?.server.close();
    throw error;
  }
}

interface ServedMetrics {
  metrics: Metrics;
  server: MetricsServer;
}

/** Metrics are available while the service waits for its database. Returns null if they are off: nothing is counted. */
async function startMetrics(
  { metricsAddress, databaseUrl }: Config,
  log: Logger,
): Promise<ServedMetrics | null> {
  if (metricsAddress === null) return null;
  const { Metrics } = await import('./metrics/metrics.ts');
  const metrics = new Metrics({ version: readVersion(), database: databaseUrl.engine });
  return { metrics, server: await startMetricsServer(metricsAddress, metrics, log) };
}

async function startWith(
  metrics: ServedMetrics | null,
  config: Config,
  log: Logger,
  clock: () => number,
  signal: AbortSignal,
): Promise<App> {
  const observer = new OutageLog(log);
  const batches = metrics?.metrics.batches;
  const reducedEvents = new ReducedEventLog(log);
  const onReducedEvent = (tenant: Tenant) => {
    reducedEvents.add(tenant);
    metrics?.metrics.events.reduced();
  };
  const opened = await untilAvailable({ waitMs: config.databaseWaitMs, observer, signal }, () =>
    open(config, clock, {
      observer,
      signal,
      batches,
      onReducedEvent,
      migrationObserver: new MigrationLog(log),
    }),
  );
  try {
    return await serve(config, log, clock, opened, metrics);
  } catch (error) {
    await opened.database.close();
    throw error;
  }
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
  const { bootstrapApiToken, bootstrapWorkspace, bootstrapEnvironment, eventRetentionDays } = config;
  if (bootstrapApiToken === null) return;
  const context = {
    store,
    clock,
    configs: new EnvironmentConfigs(),
    origin: { via: 'service', requestId: null },
    keepsEvents: eventRetentionDays > 0,
  } as const;
  await ensureBootstrapApiToken(context, {
    token: bootstrapApiToken,
    workspaceName: bootstrapWorkspace,
    environment: bootstrapEnvironment,
  });
}

async function serve(
  config: Config,
  log: Logger,
  clock: () => number,
  { database, keyRing }: Opened,
  served: ServedMetrics | null,
): Promise<App> {
  const { store } = database;
  const secretFiles = [...config.secretFiles, keyFileOf(config) ?? []].flat();
  for (const warning of [...database.warnings, ...findExposedFiles(secretFiles)]) log.warn(warning);
  const { defaultGracePeriodSeconds } = config;
  const allowsPrivateWebhooks = config.webhookAllowPrivate === 'on';
  const keepsEvents = config.eventRetentionDays > 0;
  const context = createContext({
    store,
    keyRing,
    clock,
    defaultGracePeriodSeconds,
    keepsEvents,
    publicUrl: config.publicUrl,
    allowsPrivateWebhooks,
    via: 'api',
  });

  let phase: Phase = 'serving';
  const metrics = served?.metrics ?? null;
  metrics?.watchQueues(() => ({ ...store.queueLengths, cpu: context.cpu.length }));
  if (database.connections) metrics?.watchConnections(database.connections);
  if (database.storage) metrics?.watchStorage(database.storage);
  const prefetcher = new Prefetcher();
  const publicLimit = PublicLimit.of(config.failedAuthenticationLimitPerMinute, config.trustedProxies);
  const server = createServer({
    config,
    log,
    publicLimit,
    phase: () => phase,
    metrics: metrics?.http ?? null,
    arrivals: { tenantOf: (message) => prefetcher.guessTenant(message), activity: context.activity },
  });
  const running = new InFlight();
  const limit = rateLimit(config.rateLimitPerMinute);
  const bodies = new BodyAdmission();
  const unread = new UnreadResponses();
  const options = { context, limit, running, bodies, prefetcher, unread };
  const isReady = async (): Promise<void> => {
    if (phase !== 'serving') throw new Problem('shutting_down', 'The service is shutting down.');
    await checkDatabase(context, database.migrations);
  };
  addRoutes(server, options, { publicLimit, isReady });
  metrics?.readiness.watch(isReady);
  const demoDirectory = demoDirectoryOf(config.databaseUrl);
  addConsole(server, { ...options, publicLimit, demoDirectory });
  const eventRetention = new EventRetention({
    store,
    clock,
    retentionDays: config.eventRetentionDays,
    onFailure: (error) => {
      metrics?.events.retentionFailed();
      const cause = error instanceof StoreUnavailable ? { reason: error.message } : { err: error };
      log.error(cause, 'events: old ones could not be deleted; the next attempt is in five minutes');
    },
  });
  metrics?.events.watchRetention(() => eventRetention);
  const webhooks = new WebhookDispatcher({
    context,
    allowsPrivate: allowsPrivateWebhooks,
    endpoints: new WebhookEndpointLog(log),
    onError: (error) => {
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'webhooks: unexpected failure');
    },
  });
  webhooks.observer = metrics?.webhooks ?? null;
  metrics?.watchDeliveries(() => webhooks.countPending());
  const url = await server.listen({ host: config.host, port: config.port, backlog: BACKLOG });
  eventRetention.start();
  if (keepsEvents) webhooks.start();
  context.publicUrl ||= url;

  const close = async (): Promise<void> => {
    phase = 'draining';
    // `key reencrypt` unregisters keys that are not in use, and this process may have encrypted tokens with its key since.
    const registered = registerActiveKey(keyRing, store, clock()).catch(() => {});
    await sleep(config.shutdownDelayMs);
    phase = 'closing';
    // Keep-alive connections whose last request has completed would otherwise stay open.
    const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
    const deadline = setTimeout(() => server.server.closeAllConnections(), config.shutdownTimeoutMs);
    const delivered = webhooks.stop(config.shutdownTimeoutMs);
    await server.close();
    clearInterval(idle);
    clearTimeout(deadline);
    // Requests whose client has disconnected may still be running.
    await running.allEnded();
    await eventRetention.stop();
    await delivered;
    await context.usage.write();
    await context.propertyValidator.close();
    await context.timedOutSchemas.recorded;
    await registered;
    await database.close();
    await served?.server.close();
  };
  const metricsUrl = served?.server.url ?? null;
  return { url, metricsUrl, demoDirectory, context, eventRetention, webhooks, close };
}

/** Throws `StoreUnavailable`. */
async function checkDatabase({ store }: Context, migrations: Migrations): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  const bounded = store.until(deadline);
  const pings = Promise.all([bounded.read({ kind: 'ping' }), bounded.write({ kind: 'pingWrite' })]);
  const timedOut = () => new StoreUnavailable('the readiness check of the database timed out');
  const [schema, written] = await withDeadline(deadline, pings, timedOut);
  if (written === 'disk_full') throw new StoreUnavailable('the disk of the database is full');
  // Processes of other versions may have migrated the database since this one started.
  migrations.refuseTooNew(schema);
}
