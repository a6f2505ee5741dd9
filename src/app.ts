// The composition root: settings in, a running service out.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type Database, openForServing } from './database.ts';
import { rateLimit } from './http/operation.ts';
import { addRoutes } from './http/routes.ts';
import { createServer, type Phase } from './http/server.ts';
import type { Context } from './operations/context.ts';
import { IdLease } from './operations/id-lease.ts';
import { Problem } from './problem.ts';
import { loadKeyRing, registerActiveKey } from './token-keys.ts';

/** A check that takes longer than this is a no. */
const READY_TIMEOUT_MS = 2_000;
const IDLE_CHECK_MS = 50;

export interface App {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly context: Context;
  /** Ends in order: not ready, no new requests, requests in flight answered, database closed. */
  close(): Promise<void>;
}

/**
 * Starts the service. Throws `ConfigInvalid`, `AlreadyServed`, `StoreUnavailable`, and Node's error where the
 * port cannot be had.
 */
export async function startApp(config: Config, log: Logger, clock: () => number = Date.now): Promise<App> {
  const database = await openForServing(config);
  try {
    return await serve(config, log, clock, database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function serve(config: Config, log: Logger, clock: () => number, database: Database): Promise<App> {
  const { store } = database;
  const keyRing = await loadKeyRing(config, store);
  await registerActiveKey(keyRing, store, clock());
  const { defaultGracePeriodSeconds } = config;
  const context: Context = {
    store,
    keyRing,
    teamIds: new IdLease(store, 'team_id'),
    clock,
    defaultGracePeriodSeconds,
  };

  let phase: Phase = 'serving';
  const server = createServer({ config, log, phase: () => phase });
  addRoutes(server, context, rateLimit(config.rateLimitPerMinute), async () => {
    if (phase !== 'serving') throw new Problem('shutting_down', 'The service is shutting down.');
    await checkDatabase(context);
  });
  const url = await server.listen({ host: config.host, port: config.port });

  const close = async (): Promise<void> => {
    phase = 'draining';
    await sleep(config.shutdownDelayMs);
    phase = 'closing';
    // A connection whose last request ends now would otherwise stay open for the next one.
    const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
    const deadline = setTimeout(() => server.server.closeAllConnections(), config.shutdownTimeoutMs);
    await server.close();
    clearInterval(idle);
    clearTimeout(deadline);
    await database.close();
  };
  return { url, context, close };
}

async function checkDatabase({ store }: Context): Promise<void> {
  const timeout = new AbortController();
  const late = sleep(READY_TIMEOUT_MS, null, { signal: timeout.signal, ref: false }).then(() => {
    throw new Problem('database_unavailable', 'The database does not answer in time.');
  });
  try {
    await Promise.race([
      Promise.all([store.read({ kind: 'ping' }), store.write({ kind: 'pingWrite' })]),
      late,
    ]);
  } finally {
    late.catch(() => {});
    timeout.abort();
  }
}
