// Kills the service at random moments while it delivers webhooks, and restarts it, repeatedly; in the end,
// every recorded event must have arrived at least once.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind, TestDatabase } from '../test/support/database.ts';
import { send } from '../test/support/http.ts';
import { createApiToken, eventually, Folder, type Service, serve } from '../test/support/process.ts';
import { runSql } from '../test/support/sql.ts';
import { Receiver } from '../test/support/webhooks/receiver.ts';
import { PromiseBroken } from './support/ledger.ts';
import { QUIET } from './support/program.ts';
import { Random } from './support/random.ts';

interface WebhookRigOptions {
  kind: DatabaseKind;
  kills: number;
  /** Processes that serve the database together; SQLite supports one. */
  processes: number;
  seed: number;
  /** SQL that loses a delivery after each kill, to test that the rig detects it. */
  corruptingSql?: string;
  onKill: (kills: number) => void;
}

interface WebhookRigFigures {
  kills: number;
  /** Recorded events; none was lost. */
  events: number;
  /** Webhooks that arrived more than once: their process was killed before it recorded the response. */
  duplicates: number;
}

const CALLERS = 4;
const PAUSE_MS = 10;
const MAX_LOAD_MS = 600;
const MAX_RESPONSE_MS = 30;
const FAILING_SHARE = 0.02;
/**
 * Maximum time until arrival: a claim of a killed process expires after 20 seconds, and a failed attempt is
 * retried after 6.
 */
const ARRIVAL_LIMIT_MS = 60_000;

/** Throws `PromiseBroken`. */
export async function killDelivering(options: WebhookRigOptions): Promise<WebhookRigFigures> {
  using folder = new Folder();
  await using database = await options.kind.create();
  const random = new Random(options.seed);
  let refused = 0;
  await using receiver = await Receiver.start((response) => {
    const status = random.chance(FAILING_SHARE) ? 500 : 200;
    if (status === 500) refused++;
    setTimeout(() => response.writeHead(status).end(), random.below(MAX_RESPONSE_MS));
  });
  await using rig = new WebhookRig(options, folder, database, random);
  await rig.start(receiver.url);
  await rig.killUnderLoad();
  return await rig.figures(receiver, () => refused);
}

class WebhookRig implements AsyncDisposable {
  readonly #options: WebhookRigOptions;
  readonly #folder: Folder;
  readonly #database: TestDatabase;
  readonly #random: Random;
  readonly #services: Service[] = [];
  readonly #env: Record<string, string>;
  #token = '';
  #groups = 0;
  #created = 0;

  constructor(options: WebhookRigOptions, folder: Folder, database: TestDatabase, random: Random) {
    this.#options = options;
    this.#folder = folder;
    this.#database = database;
    this.#random = random;
    this.#env = { ...database.env, ...QUIET, UGS_WEBHOOK_ALLOW_PRIVATE: 'on' };
  }

  async start(url: string): Promise<void> {
    await this.#startMissing();
    const { env } = this.#database;
    this.#token = (await createApiToken(this.#folder, ['--permission', 'admin'], { env })).token;
    const body = { url, event_types: ['user_group.created'] };
    const put = { method: 'PUT', path: '/v1/webhook-endpoints/rig', body, token: this.#token };
    const { status, text } = await send(this.#services[0]!.url, put);
    assert.equal(status, 201, text);
  }

  async #startMissing(): Promise<void> {
    while (this.#services.length < this.#options.processes)
      this.#services.push(await serve(this.#folder, { env: this.#env }));
  }

  async killUnderLoad(): Promise<void> {
    const { kills, corruptingSql, onKill } = this.#options;
    for (let kill = 1; kill <= kills; kill++) {
      await this.#startMissing();
      let isAlive = true;
      const urls = this.#services.map(({ url }) => url);
      const before = this.#created;
      const working = Array.from({ length: CALLERS }, () => this.#createGroups(urls, () => isAlive));
      try {
        // A busy machine may create no group within the maximum time.
        await eventually('a group', () => this.#created > before);
        await sleep(this.#random.below(MAX_LOAD_MS));
        const victim = this.#random.pick(this.#services);
        this.#services.splice(this.#services.indexOf(victim), 1);
        await victim.kill();
      } finally {
        isAlive = false;
      }
      await Promise.all(working);
      if (corruptingSql !== undefined) await runSql(this.#database, corruptingSql);
      onKill(kill);
    }
    await this.#startMissing();
  }

  /**
   * Creates groups. A create that a killed process has not acknowledged may have been recorded nevertheless,
   * and is then delivered.
   */
  async #createGroups(urls: readonly string[], isAlive: () => boolean): Promise<void> {
    while (isAlive()) {
      const body = { user_group_id: `group-${++this.#groups}`, name: 'Group' };
      const url = this.#random.pick(urls);
      const create = { method: 'POST', path: '/v1/user-groups', body, token: this.#token };
      const response = await send(url, create).catch(() => null);
      if (response?.status === 201) this.#created++;
      await sleep(PAUSE_MS);
    }
  }

  /** `refused` returns how many webhooks the receiver has not accepted. */
  async figures(receiver: Receiver, refused: () => number): Promise<WebhookRigFigures> {
    const rows = await runSql(
      this.#database,
      "select event_id from events where type = 'user_group.created'",
    );
    const recorded = rows.map(({ event_id }) => event_id as string);
    const lost = () => {
      const arrived = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
      return recorded.filter((eventId) => !arrived.has(eventId));
    };
    const isDone = async () => {
      const pending = await runSql(
        this.#database,
        "select 1 from deliveries where state = 'pending' limit 1",
      );
      return pending.length === 0;
    };
    await eventually('all deliveries', isDone, ARRIVAL_LIMIT_MS).catch(() => {});
    if (lost().length > 0) throw new PromiseBroken(`${lost().length} of ${recorded.length} events are lost`);
    const duplicates = receiver.received.length - refused() - recorded.length;
    return { kills: this.#options.kills, events: recorded.length, duplicates };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#services.map((service) => service.kill()));
  }
}
