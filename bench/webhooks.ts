// Measures how many webhooks per second one process delivers to one local receiver, while callers create the
// user groups that the webhooks are about.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { printTable } from '../src/commands/terminal/output.ts';
import { send } from '../test/support/http.ts';
import { processorTime } from './processor-time.ts';
import { rootPath, ServerProcess } from './server-process.ts';

const CALLERS = 32;
const POLL_MS = 10;
const TARGET = 1_000;

interface WebhookBenchOptions {
  folder: string;
  events: number;
  /** URL of the database; a new SQLite file if absent. */
  databaseUrl?: string;
  report: (text: string) => void;
}

export async function measureWebhooks({
  folder,
  events,
  databaseUrl,
  report,
}: WebhookBenchOptions): Promise<void> {
  const env = {
    DATABASE_URL: databaseUrl ?? `sqlite:${join(folder, 'user-groups.db')}`,
    UGS_WEBHOOK_ALLOW_PRIVATE: 'on',
    ...(process.env.UGS_TOKEN_KEYS && { UGS_TOKEN_KEYS: process.env.UGS_TOKEN_KEYS }),
  };
  await using receiver = await ServerProcess.start({ script: ['bench/webhook-receiver.ts'] });
  await using service = await ServerProcess.start({ script: ['bin/user-group-service.js', 'serve'], env });
  const run = new WebhookBench(service.url, receiver.url, createToken(env));
  await run.putEndpoint();
  await run.createGroups(events / 10);
  await run.untilReceived(events / 10);

  report(`${events} groups are created while their webhooks are delivered`);
  const usedBefore = processorTime(service.processId);
  const startedAt = performance.now();
  await run.createGroups(events);
  const createdAt = performance.now();
  await run.untilReceived(events);
  const deliveredAt = performance.now();
  const createdPerSecond = Math.round((events * 1_000) / (createdAt - startedAt));
  const deliveredPerSecond = Math.round((events * 1_000) / (deliveredAt - startedAt));
  const used = Math.round((processorTime(service.processId) - usedBefore) / events);
  printTable(
    ['created/s', 'delivered/s', 'behind by', 'CPU per event'],
    [
      [
        String(createdPerSecond),
        String(deliveredPerSecond),
        `${Math.round(deliveredAt - createdAt)} ms`,
        `${used} µs`,
      ],
    ],
  );
  const isMet = deliveredPerSecond >= TARGET;
  console.log(`Target: ${TARGET} webhooks per second to one receiver: ${isMet ? 'met' : 'missed'}`);
}

class WebhookBench {
  readonly #service: string;
  readonly #receiver: string;
  readonly #token: string;
  #created = 0;
  #expected = 0;

  constructor(service: string, receiver: string, token: string) {
    this.#service = service;
    this.#receiver = receiver;
    this.#token = token;
  }

  async putEndpoint(): Promise<void> {
    const body = { url: `${this.#receiver}/`, event_types: ['user_group.created'] };
    await this.#call('PUT', '/v1/webhook-endpoints/bench', body);
  }

  async createGroups(count: number): Promise<void> {
    const end = this.#created + count;
    const caller = async () => {
      while (this.#created < end) {
        const id = `group-${this.#created++}`;
        await this.#call('POST', '/v1/user-groups', { user_group_id: id, name: id });
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  }

  async untilReceived(count: number): Promise<void> {
    this.#expected += count;
    for (;;) {
      const { text } = await send(this.#receiver, { path: '/count' });
      if (Number(text) >= this.#expected) return;
      await sleep(POLL_MS);
    }
  }

  async #call(method: string, path: string, body: object): Promise<void> {
    for (;;) {
      const { status, text } = await send(this.#service, { method, path, body, token: this.#token });
      if (status < 300) return;
      if (status !== 503) throw new Error(text);
    }
  }
}

function createToken(env: Record<string, string>): string {
  const args = ['api-token', 'create', '--workspace', 'default', '--permission', 'admin', '--json'];
  const options = { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' } as const;
  const printed = execFileSync(process.execPath, [rootPath('bin/user-group-service.js'), ...args], options);
  return JSON.parse(printed).token;
}
