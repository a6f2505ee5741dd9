// Malformed requests through the supported proxies: the proxy and the service agree on the end of each
// request, and the next client on the same upstream connection gets the response to its own request. The
// proxy rejects many requests with its own error pages; only responses of the service are problem objects.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastRequest, RawRequests, rawTables } from '../support/bad-input/raw-cases.ts';
import { assertUnchanged } from '../support/bad-input/refusal.ts';
import { Victim } from '../support/bad-input/victim.ts';
import { type ProxyKind, ProxyServer, proxies } from '../support/client-matrix/proxy.ts';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { UpstreamTap } from '../support/connection/upstream-tap.ts';
import { sqlite } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';

/** A proxy that has not responded by then is waiting for more bytes, for up to a minute. */
const TIMEOUT_MS = 250;
const WITNESSES = 8;

describe('A proxy that receives malformed requests', () => {
  for (const kind of proxies) {
    const skip = kind.command === undefined && `${kind.name} is not installed`;
    it(`returns every response to the right client (${kind.name})`, {
      skip,
      timeout: 120_000,
    }, async (test) => {
      const victim = await Victim.start(sqlite);
      test.after(() => victim.end());
      await using scene = await Scene.start(victim, kind);
      const errors: string[] = [];
      await assertUnchanged(victim, async () => {
        for (const [name, bytes] of cases(scene.raw)) errors.push(...(await scene.attack(name, bytes)));
      });
      assert.deepEqual(errors.slice(0, 20), []);
      const { attacks, rejectedByProxy, reused } = scene;
      test.diagnostic(
        `${attacks} cases; the proxy rejected ${rejectedByProxy}; the witness reused an upstream connection ${reused} times`,
      );
      assert.ok(attacks > 300 && reused > attacks / 10);
    });
  }
});

function cases(raw: RawRequests): [name: string, bytes: Buffer][] {
  return Object.entries(rawTables).flatMap(([title, { requests, keepsAlive }]) =>
    Object.entries(requests(raw)).map(([name, bytes]): [string, Buffer] => [
      `${title}: ${name}`,
      Buffer.concat([latin1(bytes), latin1(keepsAlive ? lastRequest : '')]),
    ]),
  );
}

/**
 * Service, a tap on its upstream connections, a proxy in front of it, and a witness that also uses the proxy.
 */
class Scene implements AsyncDisposable {
  readonly raw: RawRequests;
  readonly #victim: Victim;
  readonly #tap: UpstreamTap;
  readonly #proxy: ProxyServer;
  attacks = 0;
  rejectedByProxy = 0;
  reused = 0;

  static async start(victim: Victim, kind: ProxyKind): Promise<Scene> {
    for (let witness = 0; witness < WITNESSES; witness++)
      await victim.service.get({ user_group_id: `witness-${witness}`, name: 'Witness' });
    const tap = await UpstreamTap.start(victim.service.url);
    const proxy = await ProxyServer.start(kind, tap.url, withOneUpstreamConnection);
    return new Scene(victim, tap, proxy);
  }

  private constructor(victim: Victim, tap: UpstreamTap, proxy: ProxyServer) {
    this.#victim = victim;
    this.#tap = tap;
    this.#proxy = proxy;
    // A request hidden from the proxy may be valid for the service, so its API token is read-only.
    this.raw = new RawRequests(victim.readOnly, victim.id);
  }

  /** Sends the bytes, then lets the witness call; returns the errors found. */
  async attack(name: string, bytes: Buffer): Promise<string[]> {
    this.attacks++;
    const before = this.#tap.answers.length;
    const attacker = await RawConnection.open(this.#proxy.url);
    attacker.write(bytes);
    const { answers } = await attacker.finish(TIMEOUT_MS);
    const attacked = this.#tap.answers.slice(before);
    if (answers.length > 0 && attacked.length === 0) this.rejectedByProxy++;
    const errors = [
      ...answers.flatMap((answer) => this.#errorsOf(answer)),
      ...(await this.#witness()),
      ...this.#disagreements(),
    ];
    return errors.map((error) => `${name}: ${error}`);
  }

  /** Returns an error unless the response is one of the service, byte for byte, or an error of the proxy. */
  #errorsOf({ status, headers, text, json }: TestResponse): string[] {
    const id = headers['x-request-id'];
    if (id === undefined) return status >= 400 ? [] : [`the proxy itself returned ${status}`];
    const sent = this.#tap.answers.filter((answer) => answer.headers['x-request-id'] === id);
    if (sent.length !== 1 || sent[0]!.text !== text) return [`the service sent no such response: ${text}`];
    const isValid = status < 400 ? json.success === 1 : json.success === 0 && json.request_id === id;
    return isValid ? [] : [`not a problem object: ${text}`];
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
      return [`the witness ${id} received ${JSON.stringify(answers.map(({ text }) => text))}${rest}`];
    const requestId = answer.headers['x-request-id'];
    const index = this.#tap.connections.findIndex(
      (connection) => connection.answers.at(-1)?.headers['x-request-id'] === requestId,
    );
    if ((used[index] ?? 0) > 0) this.reused++;
    return this.#errorsOf(answer);
  }

  /** Returns the connections on which the proxy and the service count different numbers of messages. */
  #disagreements(): string[] {
    return this.#tap.connections.flatMap(({ requests, answers, rest, isClosed }, index) => {
      // A partial request may get a response or none, and the response to a disconnected client may be lost.
      const most = requests + (rest.requests === '' ? 0 : 1);
      const least = requests - (isClosed ? 1 : 0);
      const isConsistent =
        answers.length >= least && answers.length <= most && (isClosed || rest.answers === '');
      return isConsistent ? [] : [`connection ${index}: ${requests} requests, ${answers.length} responses`];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
    await this.#tap[Symbol.asyncDispose]();
  }
}

/** Makes all clients share one upstream connection, as happens under load. */
function withOneUpstreamConnection(settings: string): string {
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
