// Faults for which the alerts of deploy/prometheus/alerts.yml exist, produced in a real process.

import { once } from 'node:events';
import { renameSync, statSync, utimesSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKeyLine } from '../../src/domain/key-ring.ts';
import { mintApiToken } from '../../src/domain/token.ts';
import { startPostgres } from '../../test/support/postgres/server.ts';
import { eventually } from '../../test/support/process.ts';
import { SqlConnection } from '../../test/support/sql.ts';
import { Receiver } from '../../test/support/webhooks/receiver.ts';
import { SmallDisk } from '../support/small-disk.ts';
import type { Site } from './site.ts';

export interface AlertFault {
  /** Settings of the process. */
  env?: Record<string, string>;
  /** Targets of Prometheus besides the process. */
  targets?: readonly string[];
  /** Divisor of the durations of the rules; lower if a scrape takes long. */
  speed?: number;
  /** Produces the fault; a fault that needs repetition lasts until the signal. */
  produce(site: Site, signal: AbortSignal): Promise<unknown>;
}

const SLOW = 15;
const LOCK_MS = 700;
const STOP_MS = 150;
const MAX_CONNECTIONS = 20;
const MAX_ENDPOINTS = 100;
/** More deliveries than the service counts. */
const PENDING = 10_000;

/** Size of a log beyond the limit, written as documents of the maximum size. */
const LOG_BYTES = 300_000_000;
const PROPERTIES_BYTES = 60_000;
const LONG_AGO = new Date('2020-01-01T00:00:00Z');

export const faults: Record<string, AlertFault> = {
  UserGroupServiceDown: { produce: ({ service }) => service.kill() },
  UserGroupServiceRestarting: {
    speed: SLOW,
    produce: (site, signal) => repeat(signal, 2_000, () => site.restart()),
  },
  UserGroupServiceMissing: { produce: async ({ prometheus }) => prometheus.retarget([]) },
  UserGroupServiceFewerProcesses: { targets: ['127.0.0.1:1'], produce: removeTarget },
  UserGroupServiceNotReady: { produce: async (site) => moveDatabase(site) },
  UserGroupServiceErrors: { produce: callWithoutDatabase },
  UserGroupServiceInternalError: { produce: renameTable },
  UserGroupServiceLatency: { speed: SLOW, produce: lockDatabase },
  UserGroupServiceDatabaseUnavailable: { produce: callWithoutDatabase },
  UserGroupServiceOverloaded: {
    env: { UGS_QUEUE_LIMIT: '2' },
    produce: (site, signal) =>
      repeat(signal, 100, () => Promise.all(Array.from({ length: 20 }, () => site.create()))),
  },
  UserGroupServiceRateLimited: {
    env: { UGS_RATE_LIMIT_PER_MINUTE: '10' },
    produce: (site, signal) => repeat(signal, 50, () => site.create()),
  },
  UserGroupServiceEventLoopBlocked: { speed: SLOW, produce: stopAndContinue },
  UserGroupServiceConnections: {
    env: { UGS_MAX_CONNECTIONS: String(MAX_CONNECTIONS) },
    produce: holdConnections,
  },
  UserGroupServiceAuthenticationFailures: {
    produce: ({ service }, signal) =>
      repeat(signal, 50, () => service.call(mintApiToken().reveal(), 'GET', '/v1/user-groups')),
  },
  UserGroupServiceInvalidApiToken: { produce: callWithRevokedToken },
  UserGroupServiceWebhooksFailing: {
    produce: async (site, signal) => {
      await using receiver = await Receiver.start((response) => void response.writeHead(500).end());
      await site.putEndpoint('failing', receiver.url);
      await repeat(signal, 50, () => site.create());
    },
  },
  UserGroupServiceWebhooksPending: { produce: fillDeliveries },
  // Each scrape that takes too long restarts the longest wait before firing.
  UserGroupServiceRetentionFailing: { speed: 30, produce: refuseDeletions },
  UserGroupServiceRetentionBehind: { produce: refuseDeletions },
  UserGroupServiceEventFeedDelayed: { produce: holdUpFeed },
  UserGroupServiceWalLarge: { produce: keepSnapshot },
  UserGroupServiceDiskSpace: {
    produce: async (site, signal) => {
      using _disk = new SmallDisk(site.path('disk'), 64);
      await site.restart({ DATABASE_URL: `sqlite:${site.path('disk/user-groups.db')}` });
      await aborted(signal);
      await site.service.kill();
    },
  },
  UserGroupServiceBackupOld: {
    produce: async ({ database }) => utimesSync(`${database}.last-backup`, LONG_AGO, LONG_AGO),
  },
  UserGroupServiceWebhookDisabled: {
    produce: async (site, signal) => {
      await using receiver = await Receiver.start((response) => void response.writeHead(410).end());
      await site.putEndpoint('gone', receiver.url);
      await site.create();
      await aborted(signal);
    },
  },
};

async function repeat(signal: AbortSignal, pauseMs: number, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleep(pauseMs);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Moves the file away, as if its volume were not mounted. */
function moveDatabase({ database }: Site): void {
  renameSync(database, `${database}.moved`);
}

async function callWithoutDatabase(site: Site, signal: AbortSignal): Promise<void> {
  moveDatabase(site);
  await repeat(signal, 50, () => site.create());
}

/** Makes calls fail for a reason that no code expects. */
async function renameTable(site: Site, signal: AbortSignal): Promise<void> {
  await site.sql('alter table user_groups rename to renamed');
  await repeat(signal, 200, () => site.create());
}

/** Locks the file repeatedly, as another program may. */
async function lockDatabase(site: Site, signal: AbortSignal): Promise<void> {
  const callers = repeat(signal, 20, () => site.create());
  const database = new DatabaseSync(site.database, { timeout: 5_000 });
  await repeat(signal, 50, async () => {
    database.exec('begin immediate');
    await sleep(LOCK_MS);
    database.exec('commit');
  });
  database.close();
  await callers;
}

/** Stops the process repeatedly, as a machine without free processor time does. */
async function stopAndContinue({ service }: Site, signal: AbortSignal): Promise<void> {
  await repeat(signal, STOP_MS, async () => {
    service.signal('SIGSTOP');
    await sleep(STOP_MS);
    service.signal('SIGCONT');
  });
}

async function holdConnections({ service }: Site, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(service.url);
  const open = new Set<Socket>();
  await repeat(signal, 100, async () => {
    while (open.size < MAX_CONNECTIONS) {
      const socket = connect(Number(port), hostname);
      open.add(socket);
      socket.on('error', () => {}).on('close', () => open.delete(socket));
    }
  });
  for (const socket of open) socket.destroy();
}

async function callWithRevokedToken(site: Site, signal: AbortSignal): Promise<void> {
  const { json } = await site.call('POST', '/v1/api-tokens', { name: 'old', permission: 'resolve' });
  await site.call('DELETE', `/v1/api-tokens/${json.api_token.api_token_id}`);
  await repeat(signal, 1_000, () => site.service.call(json.api_token.token, 'GET', '/v1/whoami'));
}

async function removeTarget({ prometheus, metricsAddress }: Site, signal: AbortSignal): Promise<void> {
  // The rule compares with thirty seconds earlier, so it holds only for thirty seconds, and not before that time.
  await eventually('earlier scrapes', async () => (await prometheus.query('up offset 30s')).length === 2);
  prometheus.retarget([metricsAddress]);
  await aborted(signal);
}

/** Creates deliveries to a port on which nothing listens. */
async function fillDeliveries(site: Site): Promise<void> {
  const receiver = await Receiver.start();
  const { url } = receiver;
  await receiver[Symbol.asyncDispose]();
  for (let endpoint = 0; endpoint < MAX_ENDPOINTS; endpoint++) await site.putEndpoint(`e-${endpoint}`, url);
  for (let group = 0; group <= PENDING / MAX_ENDPOINTS; group++) await site.create();
}

/**
 * Makes old events exist, and makes a rule of the database refuse to delete them. The first run is a minute
 * after the start; usage of the day before yesterday proves to it that the clock is right.
 */
async function refuseDeletions(site: Site): Promise<void> {
  await site.create();
  await site.sql('update events set occurred_at = 0');
  await site.sql(`insert into usage_counts
    select bucket, workspace_id, environment, target_id, unixepoch() / 86400 - 2, 'resolves', '', 1 from events limit 1`);
  await site.sql(`create trigger kept before delete on events begin select raise(abort, 'kept'); end`);
}

/** Leaves a transaction open that has written, as another program may. */
async function holdUpFeed(site: Site, signal: AbortSignal): Promise<void> {
  const server = await startPostgres();
  await site.restart({ DATABASE_URL: server.url, UGS_TOKEN_KEYS: generateKeyLine().reveal() });
  {
    await using client = await SqlConnection.open(server.url);
    await client.query('begin; select pg_current_xact_id()');
    await aborted(signal);
  }
  await site.service.kill();
  await server.stop();
}

/** Keeps a snapshot open, as another program may, so that the log cannot restart from the beginning. */
async function keepSnapshot(site: Site, signal: AbortSignal): Promise<void> {
  const database = new DatabaseSync(site.database);
  database.exec('begin; select count(*) from user_groups');
  const text = 'x'.repeat(PROPERTIES_BYTES);
  const log = `${site.database}-wal`;
  while (statSync(log).size < LOG_BYTES && !signal.aborted)
    await Promise.all(Array.from({ length: 8 }, () => site.create({ properties: { text } })));
  await aborted(signal);
  database.close();
}
