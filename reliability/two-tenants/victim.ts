// Process of the tenant that must not be harmed: a steady open-loop load, and the receiver of its webhooks.
// It has a high priority, so that it measures the service and not itself.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallName } from '../support/call.ts';
import { Callers, type CallLoad } from '../support/call-load.ts';
import { Connection } from '../support/connection.ts';

/** Measurements of the victim during one phase. */
export interface Seen {
  /** Latencies of the calls that succeeded. */
  tookMs: [CallName, number][];
  /** Failed calls, by kind of failure. */
  errors: Record<string, number>;
  /** Times from a create until its webhook arrived; at least the time waited if it has not. */
  webhookMs: number[];
}

export type VictimMessage = { receiverUrl: string } | { seen: Seen };

/**
 * Priority above that of the service, if permitted, so that measurements include no wait of this process for
 * a processor.
 */
const NICER_BY = -5;
/** Maximum wait for webhooks after the last call. */
const WEBHOOKS_TIMEOUT_MS = 2_000;
const POLL_MS = 20;

/** Arrival time of the webhook about each group (`performance.now()`). */
const arrivals = new Map<string, number>();

/** Connections that stay open between phases, like those of a client with a pool. */
let pool: readonly Connection[] = [];

/**
 * Fills the pool in advance: during an attack, a new connection waits until the service has accepted those of
 * the attacker.
 */
async function connect({ url, maxConnections = 0 }: CallLoad): Promise<void> {
  const open = pool.filter(({ isOpen }) => isOpen);
  const added = Array.from({ length: maxConnections - open.length }, () => new Connection(url));
  await Promise.all(added.map(({ socket }) => once(socket, 'connect')));
  pool = [...open, ...added];
}

async function measure(load: CallLoad): Promise<Seen> {
  const startedAt = performance.now();
  const callers = new Callers(load, pool);
  const outcomes = await callers.outcomes();
  const errors: Record<string, number> = {};
  for (const { call, reply, verdict } of outcomes) {
    if (verdict === 'served') continue;
    const name = `${call} ${reply}`;
    errors[name] = (errors[name] ?? 0) + 1;
  }
  if (callers.unanswered > 0) errors['without response'] = callers.unanswered;
  const served = outcomes.filter(({ verdict }) => verdict === 'served');
  const created = served.filter(({ call }) => call === 'create');
  await arrivalOfAll(created.map(({ groupId }) => groupId));
  pool = callers.free;
  const webhookMs = created.map(
    ({ groupId, dueMs }) => (arrivals.get(groupId) ?? performance.now()) - startedAt - dueMs,
  );
  return { tookMs: served.map(({ call, tookMs }) => [call, tookMs]), errors, webhookMs };
}

async function arrivalOfAll(groupIds: readonly string[]): Promise<void> {
  const deadline = performance.now() + WEBHOOKS_TIMEOUT_MS;
  while (performance.now() < deadline && !groupIds.every((id) => arrivals.has(id))) await sleep(POLL_MS);
}

const receiver = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => {
    response.end();
    const { id } = JSON.parse(text).target as { id: string };
    if (!arrivals.has(id)) arrivals.set(id, performance.now());
  });
});

try {
  setPriority(Math.max(getPriority() + NICER_BY, constants.priority.PRIORITY_HIGHEST));
} catch {}
process.on('message', async (load: CallLoad) => {
  await connect(load);
  report({ seen: await measure(load) });
});
// Exits with the rig, which may be killed.
process.once('disconnect', () => process.exit());
receiver.listen(0, '127.0.0.1', () => {
  const { port } = receiver.address() as AddressInfo;
  report({ receiverUrl: `http://127.0.0.1:${port}/` });
});

function report(message: VictimMessage): void {
  process.send?.(message);
}
