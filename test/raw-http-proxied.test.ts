// What no HTTP client would send, through the proxies that stand before the service: the proxy and the service agree
// on where each request ends, and who comes next on the same connection to the service gets the answer to their own
// request and no other's. Much of it the proxy refuses by itself, with a page of its own; only what the service
// answers is a problem object.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastRequest, RawRequests, rawTables } from './bad-input/raw-cases.ts';
import { leavesNoTrace } from './bad-input/refusal.ts';
import { Victim } from './bad-input/victim.ts';
import { type ProxyKind, ProxyServer, proxies } from './client-matrix/proxy.ts';
import { sqlite } from './database.ts';
import type { TestAnswer } from './http.ts';
import { RawConnection } from './raw-connection.ts';
import { UpstreamTap } from './upstream-tap.ts';

/** A proxy that has not answered by then waits for more, and would for a minute. */
const PATIENCE_MS = 250;
const WITNESSES = 8;

describe('A proxy that is sent what no HTTP client would send', () => {
  for (const kind of proxies) {
    const skip = kind.command === undefined && `${kind.name} is not on this machine`;
    it(`confuses nobody (${kind.name})`, { skip, timeout: 120_000 }, async (test) => {
      const victim = await Victim.start(sqlite);
      test.after(() => victim.end());
      await using scene = await Scene.start(victim, kind);
      const faults: string[] = [];
      await leavesNoTrace(victim, async () => {
        for (const [name, bytes] of cases(scene.raw)) faults.push(...(await scene.attack(name, bytes)));
      });
      assert.deepEqual(faults.slice(0, 20), []);
      const { attacks, refusedByProxy, followed } = scene;
      test.diagnostic(
        `${attacks} cases; the proxy refused ${refusedByProxy}; ${followed} times the witness came next on the same connection`,
      );
      assert.ok(attacks > 300 && followed > attacks / 10);
    });
  }
});

function cases(raw: RawRequests): [name: string, bytes: Buffer][] {
  return Object.entries(rawTables).flatMap(([sentence, { requests, goesOn }]) =>
    Object.entries(requests(raw)).map(([name, bytes]): [string, Buffer] => [
      `${sentence}: ${name}`,
      Buffer.concat([latin1(bytes), latin1(goesOn ? lastRequest : '')]),
    ]),
  );
}

/** A service, what passes to and from it, a proxy before it, and a witness who calls through the proxy too. */
class Scene implements AsyncDisposable {
  readonly raw: RawRequests;
  readonly #victim: Victim;
  readonly #tap: UpstreamTap;
  readonly #proxy: ProxyServer;
  attacks = 0;
  refusedByProxy = 0;
  followed = 0;

  static async start(victim: Victim, kind: ProxyKind): Promise<Scene> {
    for (let witness = 0; witness < WITNESSES; witness++)
      await victim.service.get({ user_group_id: `witness-${witness}`, name: 'Witness' });
    const tap = await UpstreamTap.start(victim.service.url);
    const proxy = await ProxyServer.start(kind, tap.url, oneConnectionForAll);
    return new Scene(victim, tap, proxy);
  }

  private constructor(victim: Victim, tap: UpstreamTap, proxy: ProxyServer) {
    this.#victim = victim;
    this.#tap = tap;
    this.#proxy = proxy;
    // What is hidden in a request for the proxy may be one for the service, and both may be right: it may only read.
    this.raw = new RawRequests(victim.apiTokens.readOnly, victim.id);
  }

  /** What goes wrong when these bytes are sent, and then the witness calls. */
  async attack(name: string, bytes: Buffer): Promise<string[]> {
    this.attacks++;
    const before = this.#tap.answers.length;
    const attacker = await RawConnection.open(this.#proxy.url);
    attacker.write(bytes);
    const { answers } = await attacker.finish(PATIENCE_MS);
    const attacked = this.#tap.answers.slice(before);
    if (answers.length > 0 && attacked.length === 0) this.refusedByProxy++;
    const faults = [
      ...answers.flatMap((answer) => this.#faultsOf(answer)),
      ...(await this.#witness()),
      ...this.#disagreements(),
    ];
    return faults.map((fault) => `${name}: ${fault}`);
  }

  /** An answer is one of the service, word for word, or a refusal of the proxy. */
  #faultsOf({ status, headers, text, json }: TestAnswer): string[] {
    const id = headers['x-request-id'];
    if (id === undefined) return status >= 400 ? [] : [`a proxy answered ${status} by itself`];
    const given = this.#tap.answers.filter((answer) => answer.headers['x-request-id'] === id);
    if (given.length !== 1 || given[0]!.text !== text) return [`no such answer was given: ${text}`];
    const isRight = status < 400 ? json.success === 1 : json.success === 0 && json.request_id === id;
    return isRight ? [] : [`no problem object: ${text}`];
  }

  async #witness(): Promise<string[]> {
    const id = `witness-${this.attacks % WITNESSES}`;
    const used = this.#tap.connections.map(({ answers }) => answers.length);
    const body = JSON.stringify({ user_group_id: id });
    const witness = await RawConnection.open(this.#proxy.url);
    const head = `Host: x\r\nAuthorization: Token ${this.#victim.service.token}\r\nConnection: close\r\n`;
    witness.write(`GET /api/user HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    const { answers, rest } = await witness.finish();
    const [answer] = answers;
    if (answers.length !== 1 || rest !== '' || answer?.json?.user_group?.provided_id !== id)
      return [`the witness ${id} was told ${JSON.stringify(answers.map(({ text }) => text))}${rest}`];
    const requestId = answer.headers['x-request-id'];
    const index = this.#tap.connections.findIndex(
      (connection) => connection.answers.at(-1)?.headers['x-request-id'] === requestId,
    );
    if ((used[index] ?? 0) > 0) this.followed++;
    return this.#faultsOf(answer);
  }

  /** Where the proxy and the service do not count the same. */
  #disagreements(): string[] {
    return this.#tap.connections.flatMap(({ requests, answers, rest, isClosed }, index) => {
      // Half a request may be refused, or left alone; a client that goes away may take along its answer.
      const most = requests + (rest.requests === '' ? 0 : 1);
      const least = requests - (isClosed ? 1 : 0);
      const isRight = answers.length >= least && answers.length <= most && (isClosed || rest.answers === '');
      return isRight ? [] : [`connection ${index}: ${requests} requests, ${answers.length} answers`];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
    await this.#tap[Symbol.asyncDispose]();
  }
}

/** Everybody's requests share a connection to the service, as they do now and then where there are many. */
function oneConnectionForAll(settings: string): string {
  return settings
    .replace('# docs: begin\ndefaults', 'global\n    nbthread 1\ndefaults')
    .replace('keepalive 32;', 'keepalive 1;')
    .replace('\nbackend user_groups\n', '\nbackend user_groups\n    http-reuse always\n')
    .replace('option httpchk GET /readyz\n', '')
    .replace(/(server one \S+) check/, '$1');
}

function latin1(bytes: string | Buffer): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
}
