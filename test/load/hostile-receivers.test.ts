// Hanging receivers of one workspace do not delay the webhooks of another, however often its endpoints are
// replaced.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseKind, describeOnEachDatabase } from '../support/database.ts';
import { createApiToken, Folder, type Service, serve } from '../support/process.ts';
import { Receiver } from '../support/webhooks/receiver.ts';
import { env, PATH } from '../support/webhooks/tenant.ts';

/** Maximum number of endpoints in a workspace. */
const ENDPOINTS = 100;
const SAMPLES = 100;
const SAMPLE_MS = 100;
const ARRIVAL_MS = 60_000;
const SLOW_MS = 5_000;
/** Time after which the attack has taken all that it can get. */
const WARM_UP_MS = 5_000;
/** Keeps the attacker's request rate low: its requests must not be what delays the victim. */
const PAUSE_MS = 20;
const STEPS_PER_CHANGE = 10;
const MAX_RATIO = 2;
/** Allowance for a busy machine. Receivers that hang would delay the others by several seconds. */
const NOISE_MS = 250;

describeOnEachDatabase('A workspace with hanging receivers', (kind) => {
  it(`delays those of another at most ${MAX_RATIO} times and ${NOISE_MS} ms longer`, async (test) => {
    using folder = new Folder();
    await using receiver = await Receiver.start();
    // Half of the receivers never respond. The others respond late: they hold their attempts too, but each
    // success keeps the concurrency of their endpoint.
    await using hanging = await Receiver.start((response, { path }) => {
      if (path.endsWith('slow')) setTimeout(() => response.end(), SLOW_MS);
    });
    await using run = await Run.start(kind, folder);
    const victim = await run.caller('victim');
    await victim.putEndpoint('healthy', receiver.url);
    const quiet = await latencies(victim, receiver);
    const hostile = await run.caller('hostile');
    await using _ = attackFrom(hostile, hanging.url);
    await sleep(WARM_UP_MS);
    const attacked = await latencies(victim, receiver);
    test.diagnostic(`quiet ${describe(quiet)}, attacked ${describe(attacked)}`);
    assert.ok(hanging.received.length >= ENDPOINTS, `only ${hanging.received.length} attempts were held`);
    for (const share of [0.9, 0.99]) {
      const limitMs = MAX_RATIO * quantile(quiet, share) + NOISE_MS;
      assert.ok(quantile(attacked, share) <= limitMs, `${share}: ${quantile(attacked, share)} ms`);
    }
  });
});

/**
 * Returns the times from the request that changes something to the arrival of its webhook, in ascending
 * order.
 */
async function latencies(victim: Caller, receiver: Receiver): Promise<number[]> {
  const first = receiver.received.length;
  const sentAt = new Map<string, number>();
  const changes: Promise<void>[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const id = victim.newId();
    sentAt.set(id, performance.now());
    // A late webhook does not delay the next sample.
    changes.push(victim.createGroup(id));
    await sleep(SAMPLE_MS);
  }
  await Promise.all(changes);
  const webhooks = await receiver.waitFor(first + SAMPLES, ARRIVAL_MS);
  const found = webhooks
    .slice(first)
    .map(({ body, receivedAt }) => receivedAt - sentAt.get(JSON.parse(body).target.id)!);
  return found.sort((a, b) => a - b);
}

/** Replaces the endpoints one by one, and makes changes to which all of them subscribe. */
function attackFrom(hostile: Caller, url: string): AsyncDisposable {
  let isOver = false;
  const attack = async () => {
    for (let step = 0; !isOver; step++) {
      const endpoint = step % ENDPOINTS;
      const kind = endpoint % 2 === 0 ? 'slow' : 'hanging';
      await hostile.putEndpoint(`endpoint-${endpoint}`, `${url}?step=${step}&${kind}`);
      if (step % STEPS_PER_CHANGE === 0) await hostile.createGroup(hostile.newId());
      if (step >= ENDPOINTS) await sleep(PAUSE_MS);
    }
  };
  const attacking = attack();
  return {
    [Symbol.asyncDispose]: () => {
      isOver = true;
      return attacking;
    },
  };
}

class Run implements AsyncDisposable {
  readonly #folder: Folder;
  readonly #service: Service;
  readonly #env: Record<string, string>;
  readonly #drop: () => Promise<void>;

  static async start(kind: DatabaseKind, folder: Folder): Promise<Run> {
    const database = await kind.create();
    const settings = { ...database.env, ...env, LOG_LEVEL: 'info', UGS_SHUTDOWN_TIMEOUT_MS: '0' };
    const service = await serve(folder, { env: settings });
    return new Run(folder, service, settings, () => database.drop());
  }

  private constructor(
    folder: Folder,
    service: Service,
    settings: Record<string, string>,
    drop: () => Promise<void>,
  ) {
    this.#folder = folder;
    this.#service = service;
    this.#env = settings;
    this.#drop = drop;
  }

  async caller(workspace: string): Promise<Caller> {
    const args = ['--workspace', workspace, '--create-workspace', '--permission', 'admin'];
    const { token } = await createApiToken(this.#folder, args, { env: this.#env });
    return new Caller(this.#service, token);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.kill();
    await this.#drop();
  }
}

class Caller {
  readonly #service: Service;
  readonly #token: string;
  #groups = 0;

  constructor(service: Service, token: string) {
    this.#service = service;
    this.#token = token;
  }

  async putEndpoint(id: string, url: string): Promise<void> {
    await this.#change('PUT', `${PATH}/${id}`, { url, event_types: ['user_group.created'] });
  }

  newId(): string {
    return `group-${this.#groups++}`;
  }

  async createGroup(id: string): Promise<void> {
    await this.#change('POST', '/v1/user-groups', { user_group_id: id, name: id });
  }

  async #change(method: string, path: string, body: unknown): Promise<void> {
    const { status, text } = await this.#service.call(this.#token, method, path, body);
    // The service may refuse a change under overload.
    assert.ok(status < 300 || status === 503, text);
  }
}

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.ceil(share * ascending.length) - 1]!;
}

function describe(ascending: readonly number[]): string {
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => `${quantile(ascending, share).toFixed(1)} ms`);
  return `p50 ${p50}, p90 ${p90}, p99 ${p99}`;
}
