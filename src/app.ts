// The composition root: settings in, a running service out.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type Database, openForServing, type ServingOptions } from './database.ts';
import { OutageLog, untilAvailable } from './database-wait.ts';
import type { KeyRing } from './domain/key-ring.ts';
import { findExposedFiles } from './exposed-file.ts';
import { rateLimit } from './http/operation.ts';
import { addRoutes } from './http/routes.ts';
import { RunningOperations } from './http/running-operations.ts';
import { createServer, type Phase } from './http/server.ts';
import type { Context } from './operations/context.ts';
import { IdLease } from './operations/id-lease.ts';
import { Turns } from './operations/turns.ts';
import { Problem } from './problem.ts';
import { settledBy } from './store/deadline.ts';
import { StoreUnavailable } from './store/store.ts';
import { keyFileOf, loadKeyRing, registerActiveKey } from './token-keys.ts';

/** A check that takes longer than this is a no. */
const READY_TIMEOUT_MS = 2_000;
const IDLE_CHECK_MS = 50;
/**
 * Connections that the system makes while the process has no time to take them; Linux allows as many. Beyond Node's
 * 511 a client would hear nothing for a second, until it tries again.
 */
const BACKLOG = 4_096;

export interface App {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly context: Context;
  /** Ends in order: not ready, no new requests, requests in flight answered, database closed. */
  close(): Promise<void>;
}

/**
 * Starts the service. Throws `ConfigInvalid`, `AlreadyServed`, `StoreUnavailable`, Node's error where the port
 * cannot be had, and soon whatever comes of it where the signal ends the start.
 */
export async function startApp(
  config: Config,
  log: Logger,
  clock: () => number = Date.now,
  signal: AbortSignal = new AbortController().signal,
): Promise<App> {
  const observer = new OutageLog(log);
  const opened = await untilAvailable({ waitMs: config.databaseWaitMs, observer, signal }, () =>
    open(config, clock, { observer, signal }),
  );
  try {
    return await serve(config, log, clock, opened);
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
    return { database, keyRing };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function serve(
  config: Config,
  log: Logger,
  clock: () => number,
  { database, keyRing }: Opened,
): Promise<App> {
  const { store } = database;
  const secretFiles = [...config.secretFiles, keyFileOf(config) ?? []].flat();
  for (const warning of [...database.warnings, ...findExposedFiles(secretFiles)]) log.warn(warning);
  const { defaultGracePeriodSeconds } = config;
  const context: Context = {
    store,
    keyRing,
    teamIds: new IdLease(store, 'team_id'),
    turns: new Turns(),
    clock,
    defaultGracePeriodSeconds,
  };

  let phase: Phase = 'serving';
  const server = createServer({ config, log, phase: () => phase });
  const running = new RunningOperations();
  const limit = rateLimit(config.rateLimitPerMinute);
  addRoutes(server, { context, limit, running }, async () => {
    if (phase !== 'serving') throw new Problem('shutting_down', 'The service is shutting down.');
    await checkDatabase(context);
  });
  const url = await server.listen({ host: config.host, port: config.port, backlog: BACKLOG });

  const close = async (): Promise<void> => {
    phase = 'draining';
    // `key reencrypt` forgets a key that is not in use, and this process may have sealed under it since.
    const registered = registerActiveKey(keyRing, store, clock()).catch(() => {});
    await sleep(config.shutdownDelayMs);
    phase = 'closing';
    // A connection whose last request ends now would otherwise stay open for the next one.
    const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
    const deadline = setTimeout(() => server.server.closeAllConnections(), config.shutdownTimeoutMs);
    await server.close();
    clearInterval(idle);
    clearTimeout(deadline);
    // A client that has gone has left its request behind.
    await running.allEnded();
    await registered;
    await database.close();
  };
  return { url, context, close };
}

async function checkDatabase({ store }: Context): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  const inTime = store.until(deadline);
  const answers = Promise.all([inTime.read({ kind: 'ping' }), inTime.write({ kind: 'pingWrite' })]);
  await settledBy(deadline, answers, () => new StoreUnavailable('the database does not answer in time'));
}
