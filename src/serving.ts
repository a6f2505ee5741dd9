// Runs in every serving thread of a process: answers requests on a listener of its own, with its own view of
// the database. A process with one serving thread runs this in its main thread.

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type Config, operationSettings } from './config.ts';
import { guessTenant as guessTenantOfPage } from './console/request/guess-tenant.ts';
import { addConsole } from './console/routes.ts';
import type { ThreadDatabase } from './database.ts';
import { demoDirectoryPath } from './demo/sample-file.ts';
import type { KeyRing } from './domain/key-ring.ts';
import { HEALTH_CHECKS } from './http/endpoints/service/health.ts';
import { BodyAdmission } from './http/limits/body-admission.ts';
import type { ThreadConnections } from './http/limits/connection-limit.ts';
import { InFlight } from './http/limits/in-flight.ts';
import { PublicLimit, type PublicLimitMemory } from './http/limits/public-limit.ts';
import { rateLimit, rateLimitMemory } from './http/limits/rate-limit.ts';
import { UnreadResponses } from './http/limits/response-backpressure.ts';
import { Prefetcher } from './http/prefetch.ts';
import { findClientNetwork } from './http/request/client-address.ts';
import { addRoutes } from './http/routes.ts';
import { createServer, type Phase } from './http/server.ts';
import type { ThreadMetrics } from './metrics/metrics.ts';
import { type Context, createContext } from './operations/context.ts';
import { EnvironmentFigures } from './operations/figures/environment-figures.ts';
import { SignatureQueue } from './operations/machinery/signature-queue.ts';
import type { Validator } from './operations/property-schema/validator/validator.ts';
import { Problem } from './problem.ts';
import { HEALTH_CHECKS_TENANT, UNKNOWN_TENANT } from './scheduling/fair-queue.ts';
import { TenantActivity } from './scheduling/tenant-activity.ts';
import { ThreadSum } from './scheduling/thread-sum.ts';
import { withDeadline } from './scheduling/timeout.ts';
import type { BatchingOptions, QueueLengths } from './store/batching-store.ts';
import type { Migrations } from './store/migration.ts';
import { StoreUnavailable } from './store/port.ts';

/** A readiness check that takes longer fails. */
const READY_TIMEOUT_MS = 2_000;
const IDLE_CHECK_MS = 50;
/**
 * Length of the queue of connections that the process has not accepted yet; the Linux default limit is the same. With
 * Node's default of 511, a burst overflows the queue and clients wait a second until TCP retransmits the SYN.
 */
const BACKLOG = 4_096;

/** Memory that the serving threads of a process share, because its limits apply to all of them together. */
export interface SharedMemory {
  publicLimit: PublicLimitMemory | null;
  rateLimit: SharedArrayBuffer | null;
  connections: Record<keyof ThreadConnections, SharedArrayBuffer>;
  activity: SharedArrayBuffer;
  queueLengths: Record<keyof QueueLengths, SharedArrayBuffer>;
}

export function allocateSharedMemory({
  threads,
  rateLimitPerMinute,
  failedAuthenticationLimitPerMinute,
}: Config): SharedMemory {
  const sum = () => ThreadSum.allocate(threads);
  return {
    publicLimit: PublicLimit.allocate(failedAuthenticationLimitPerMinute),
    rateLimit: rateLimitMemory(rateLimitPerMinute),
    connections: { open: sum(), kept: sum() },
    activity: TenantActivity.allocate(),
    queueLengths: { read: sum(), list: sum(), write: sum() },
  };
}

/** One of the serving threads of a process. */
export interface Thread {
  /** 0 is the main thread. */
  number: number;
  memory: SharedMemory;
  activity: TenantActivity;
}

export function threadOf(number: number, memory: SharedMemory): Thread {
  return { number, memory, activity: new TenantActivity(memory.activity) };
}

/** Options of the store of a serving thread. */
export function batchingOptions(
  thread: Thread,
  { threads }: Config,
  log: Logger,
  metrics: ThreadMetrics | null,
): BatchingOptions {
  const { read, list, write } = thread.memory.queueLengths;
  const sum = (memory: SharedArrayBuffer) => new ThreadSum(memory, thread.number);
  return {
    activity: thread.activity,
    batches: metrics?.batches,
    queueLengths: threads === 1 ? undefined : { read: sum(read), list: sum(list), write: sum(write) },
    // Nothing else reports it: every item of the batch may have succeeded when it was repeated.
    onSplitBatch: (err) => log.error({ err }, 'a batch failed; its items were repeated one at a time'),
  };
}

/**
 * Logs a bug in work that no request waits for, but not an outage of the database, which `OutageLog` logs.
 */
export function logUnexpected(log: Logger, what: string): (error: unknown) => void {
  return (err) => {
    if (!(err instanceof StoreUnavailable)) log.error({ err }, `${what}: unexpected failure`);
  };
}

interface ServingOptions {
  config: Config;
  thread: Thread;
  log: Logger;
  clock: () => number;
  database: ThreadDatabase;
  keyRing: KeyRing;
  propertyValidator: Validator;
  metrics: ThreadMetrics | null;
}

/** Answers requests in one thread. */
export class Serving {
  readonly context: Context;
  /** Directory of the sample files of the demo; null on PostgreSQL. */
  readonly demoDirectory: string | null;
  readonly #config: Config;
  readonly #migrations: Migrations;
  readonly #server: ReturnType<typeof createServer>;
  readonly #running = new InFlight();
  readonly #figures: EnvironmentFigures;
  #phase: Phase = 'serving';

  constructor(options: ServingOptions) {
    const { config, thread, log, database, metrics } = options;
    const { threads } = config;
    const { memory } = thread;
    const context = contextOf(options);
    const prefetcher = new Prefetcher();
    const publicLimit =
      memory.publicLimit &&
      new PublicLimit(config.failedAuthenticationLimitPerMinute, config.trustedProxies, memory.publicLimit);
    this.context = context;
    this.demoDirectory = demoDirectoryPath(config.databaseUrl);
    this.#config = config;
    this.#migrations = database.migrations;
    this.#figures = new EnvironmentFigures(database.store, context, logUnexpected(log, 'figures'));
    this.#server = createServer({
      config,
      log,
      connections: {
        open: new ThreadSum(memory.connections.open, thread.number),
        kept: new ThreadSum(memory.connections.kept, thread.number),
      },
      publicLimit,
      phase: () => this.#phase,
      metrics: metrics?.http ?? null,
      arrivals: {
        guessTenant: (request) => guessTenant({ context, prefetcher }, request),
        activity: context.activity,
        findClient: ({ raw }) => findClientNetwork(raw, config.trustedProxies),
      },
    });
    const routes = {
      context,
      limit: memory.rateLimit && rateLimit(config.rateLimitPerMinute, memory.rateLimit),
      publicLimit,
      running: this.#running,
      bodies: new BodyAdmission(threads),
      prefetcher,
      unread: new UnreadResponses(threads),
    };
    addRoutes(this.#server, { ...routes, isReady: () => this.isReady() });
    addConsole(this.#server, { ...routes, demoDirectory: this.demoDirectory, figures: this.#figures });
  }

  /** Rejects if this thread does not serve, or cannot use the database. */
  async isReady(): Promise<void> {
    if (this.#phase !== 'serving') throw new Problem('shutting_down', 'The service is shutting down.');
    await checkDatabase(this.context, this.#migrations);
  }

  /** Returns the URL. */
  async listen(host: string, port: number): Promise<string> {
    // Fastify passes `reusePort` on to Node, but does not declare it.
    const options = { host, port, backlog: BACKLOG, reusePort: this.#config.threads > 1 };
    const url = await this.#server.listen(options);
    this.context.publicUrl ||= url;
    return url;
  }

  /** Reports the process as not ready; resolves when new requests are refused. */
  async drain(): Promise<void> {
    this.#phase = 'draining';
    await sleep(this.#config.shutdownDelayMs);
    this.#phase = 'closing';
  }

  /** Closes all connections without waiting for responses. */
  abandon(): void {
    this.#phase = 'closing';
    this.#server.server.close();
    this.#server.server.closeAllConnections();
  }

  /** Resolves when all requests have ended and what they left in memory is written. */
  async close(): Promise<void> {
    const { server } = this.#server;
    // Keep-alive connections whose last request has completed would otherwise stay open.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    const deadline = setTimeout(() => server.closeAllConnections(), this.#config.shutdownTimeoutMs);
    await this.#server.close();
    clearInterval(idle);
    clearTimeout(deadline);
    // Requests whose client has disconnected may still be running.
    await this.#running.allEnded();
    await this.#figures.stop();
    const { lastUse, usage, timedOutSchemas } = this.context;
    await Promise.all([lastUse.write(), usage.write()]);
    await timedOutSchemas.recorded;
  }
}

/** Returns the tenant whose turns a request takes. */
function guessTenant(
  guessing: { context: Context; prefetcher: Prefetcher },
  request: FastifyRequest,
): number {
  const tenant = guessing.prefetcher.guessTenant(request.raw);
  if (tenant !== UNKNOWN_TENANT) return tenant;
  const { operationId = '' } = request.routeOptions.config;
  return HEALTH_CHECKS.has(operationId) ? HEALTH_CHECKS_TENANT : guessTenantOfPage(guessing, request);
}

/** Returns the context of the operations, whose queues the metrics watch. */
function contextOf({ config, thread, log, database, keyRing, metrics, ...options }: ServingOptions): Context {
  const { store, connections } = database;
  const context = createContext({
    ...operationSettings(config),
    ...options,
    store,
    activity: thread.activity,
    signatures: SignatureQueue.of(config.threads),
    onBackgroundError: logUnexpected(log, 'background write'),
    via: 'api',
  });
  metrics?.watchQueues(() => ({ ...store.queueLengths, cpu: context.cpu.length }));
  metrics?.watchUsage(() => context.usage.dropped);
  if (connections) metrics?.watchConnections(connections);
  return { ...context, keyRing };
}

/** Throws `StoreUnavailable`. */
async function checkDatabase({ store }: Context, migrations: Migrations): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  const bounded = store.until(deadline, HEALTH_CHECKS_TENANT);
  const pings = Promise.all([bounded.read({ kind: 'ping' }), bounded.write({ kind: 'pingWrite' })]);
  const timedOut = () => new StoreUnavailable('the readiness check of the database timed out');
  const [schema, written] = await withDeadline(deadline, pings, timedOut);
  if (written === 'disk_full') throw new StoreUnavailable('the disk of the database is full');
  // A process of another version may have migrated the database since this one started.
  migrations.refuseTooNew(schema);
}
