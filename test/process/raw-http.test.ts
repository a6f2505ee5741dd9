// Contract: every error response is one problem object, even if the request is not HTTP. A connection returns
// as many responses as it receives requests, in order; rejected requests change nothing, and a disconnected
// client leaks nothing.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { lastRequest, RawRequests, rawTables, upgrades } from '../support/bad-input/raw-cases.ts';
import { assertUnchanged, differencesOf, type ExpectedError } from '../support/bad-input/refusal.ts';
import { Victim } from '../support/bad-input/victim.ts';
import { type Exchange, exchange, RawConnection } from '../support/connection/raw-connection.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { eventually, Folder, type Service, serve } from '../support/process.ts';
import { suiteStack } from '../support/suite.ts';

type Expected = number | ExpectedError;
interface Kind {
  name: string;
  bytes: string | Buffer;
  answers: readonly Expected[];
}

const badRequest: ExpectedError = { status: 400, code: 'invalid_request' };
const invalidJson: ExpectedError = { status: 400, code: 'invalid_json', pointer: '' };
const bodyMissing: ExpectedError = { status: 400, code: 'body_missing' };
const timedOut: ExpectedError = { status: 408, code: 'request_timeout' };
const headersTooLarge: ExpectedError = { status: 431, code: 'headers_too_large' };
const tooLarge: ExpectedError = { status: 413, code: 'body_too_large' };

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const NOT_HTTP = '\x01\x02\r\n\r\n';
const TUNNEL = 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n';

const CONNECTIONS = 20;
const SHORT_TIMEOUTS = { UGS_HEADERS_TIMEOUT_MS: '400', UGS_REQUEST_TIMEOUT_MS: '800' };
/** Limit on how long the service may hold an unused connection; longer is a leak. */
const RELEASE_LIMIT_MS = 5_000;

describeOnEachDatabase('A connection', (database) => {
  const victim = Victim.of(database);
  let raw: RawRequests;
  before(() => {
    raw = new RawRequests(victim.service.token, victim.id);
  });

  describe('sends one response and stays in sync if a request', () => {
    for (const [title, { requests, expected, keepsAlive }] of Object.entries(rawTables)) {
      it(title, (t) => {
        // An error response that closes the connection does not wait for more bytes.
        const followers = keepsAlive ? [lastRequest] : ['', lastRequest];
        const answers = keepsAlive ? [expected, 200] : [expected];
        const kinds = Object.entries(requests(raw)).flatMap(([name, bytes]) =>
          followers.map((follower) => ({
            name,
            bytes: Buffer.concat([bytesOf(bytes), bytesOf(follower)]),
            answers,
          })),
        );
        t.diagnostic(`${kinds.length} cases`);
        return assertResponses(victim, kinds);
      });
    }
  });

  it('responds to every pair of requests in order, whatever their results', () => {
    const kinds = wholeRequests(raw);
    const pairs = kinds.flatMap((first) =>
      kinds.map((second) => ({
        name: `${first.name}, then ${second.name}`,
        bytes: first.bytes + second.bytes + lastRequest,
        answers: [first.answer, second.answer, 200],
      })),
    );
    return assertResponses(victim, pairs);
  });

  it('responds to a complete request even if the bytes after it are not HTTP', () => {
    const whole = [
      ...wholeRequests(raw).map((request) => ({ ...request, bytes: request.bytes + NOT_HTTP })),
      { name: 'a Content-Length too small', bytes: raw.lookUp('Content-Length: 5\r\n'), answer: invalidJson },
      { name: 'a body without a length', bytes: raw.lookUp(''), answer: bodyMissing },
    ];
    return assertResponses(
      victim,
      whole.map(({ answer, ...request }) => ({ ...request, answers: [answer, badRequest] })),
    );
  });

  it('responds to all requests before one that closes the connection', () => {
    const ends: Record<string, [bytes: string, Expected]> = {
      'a CONNECT': [TUNNEL, { status: 405, code: 'method_not_allowed' }],
      'a CONNECT, then a request': [TUNNEL + raw.smuggled, { status: 405, code: 'method_not_allowed' }],
      'an unknown method': ['BREW / HTTP/1.1\r\n\r\n', { status: 501, code: 'not_implemented' }],
      'a header that is too long': [`GET / HTTP/1.1\r\nX: ${'a'.repeat(17_408)}\r\n\r\n`, headersTooLarge],
      'too many headers': [`GET / HTTP/1.1\r\n${'X:\r\n'.repeat(1_001)}\r\n`, headersTooLarge],
      'not HTTP': [NOT_HTTP, badRequest],
    };
    const kinds = Object.entries(ends).flatMap(([name, [bytes, answer]]) =>
      wholeRequests(raw).flatMap((whole) =>
        [1, 3, 20].map((count) => ({
          name: `${count} times ${whole.name}, then ${name}`,
          bytes: whole.bytes.repeat(count) + bytes,
          answers: [...Array.from({ length: count }, () => whole.answer), answer],
        })),
      ),
    );
    return assertResponses(victim, kinds);
  });

  it('responds to a create and a following CONNECT, however they are split into packets', async () => {
    const sendSplit = async (at: number): Promise<string[]> => {
      const body = JSON.stringify({ user_group_id: `tunnel ${at}`, name: 'Created' });
      const bytes = raw.of('GET /api/user HTTP/1.1', raw.lengthOf(body), body) + TUNNEL;
      const connection = await RawConnection.open(victim.service.url);
      connection.write(bytes.slice(0, -at));
      await turn();
      connection.write(bytes.slice(-at));
      const refusal: ExpectedError = { status: 405, code: 'method_not_allowed' };
      const exchanged = await connection.finish();
      const isCreated = exchanged.answers[0]?.json.new_user_group === true;
      return [
        ...differencesOfExchange(`split at ${at}`, [200, refusal], exchanged),
        ...(isCreated ? [] : [`split at ${at}: not created`]),
      ];
    };
    assert.deepEqual((await Promise.all(offsetsIn(TUNNEL).map(sendSplit))).flat(), []);
    for (const at of offsetsIn(TUNNEL)) await victim.service.call('DELETE', `/v1/user-groups/tunnel%20${at}`);
  });

  it('sends 100 Continue for a pipelined request in order', () =>
    assertUnchanged(victim, async () => {
      const connection = await RawConnection.open(victim.service.url);
      connection.write(raw.lookUp() + raw.lookUp(`Expect: 100-continue\r\n${raw.lengthOf(raw.body)}`, ''));
      await eventually('100 Continue', () => connection.exchange.interim.length > 0);
      assert.deepEqual(differencesOfExchange('before', [200], { ...connection.exchange, isEnded: true }), []);
      connection.write(raw.body + TUNNEL);
      const refusal: ExpectedError = { status: 405, code: 'method_not_allowed' };
      const exchanged = await connection.finish();
      assert.deepEqual(differencesOfExchange('all', [200, 200, refusal], exchanged), []);
    }));

  it('ignores requests after one that closes the connection', () => {
    const closing = raw.lookUp(`Connection: close\r\n${raw.lengthOf(raw.body)}`);
    const old = raw.of('GET /api/user HTTP/1.0');
    return assertResponses(victim, [
      { name: 'Connection: close', bytes: closing + raw.smuggled, answers: [200] },
      { name: 'HTTP/1.0', bytes: old + raw.smuggled, answers: [200] },
    ]);
  });

  it('continues with HTTP/1.1 after an upgrade request', () =>
    assertUnchanged(victim, async () => {
      for (const [name, bytes] of Object.entries(upgrades(raw))) {
        const connection = await RawConnection.open(victim.service.url);
        connection.write(bytes);
        await eventually('a response', () => connection.exchange.answers.length > 0);
        connection.write(lastRequest);
        assert.deepEqual(differencesOfExchange(name, [200, 200], await connection.finish()), []);
      }
    }));

  it('sends the same response however a request is split into packets', () =>
    assertUnchanged(victim, async () => {
      const request = raw.lookUp(CHUNKED, raw.chunked()) + lastRequest;
      const sendSplit = async (at: number): Promise<string[]> => {
        const connection = await RawConnection.open(victim.service.url);
        connection.write(request.slice(0, at));
        await turn();
        connection.write(request.slice(at));
        return differencesOfExchange(`split at ${at}`, [200, 200], await connection.finish());
      };
      assert.deepEqual((await Promise.all(offsetsIn(request).map(sendSplit))).flat(), []);
    }));

  it('executes no part of a truncated request', () =>
    assertUnchanged(victim, async () => {
      const sendUntil = async (end: number): Promise<string[]> => {
        const connection = await RawConnection.open(victim.service.url);
        connection.write(raw.smuggled.slice(0, end));
        connection.end();
        return differencesOfExchange(`ends at ${end}`, [badRequest], await connection.finish());
      };
      assert.deepEqual((await Promise.all(offsetsIn(raw.smuggled).map(sendUntil))).flat(), []);
    }));

  it('sends 100 Continue to a client that waits for it', () =>
    assertUnchanged(victim, async () => {
      const connection = await RawConnection.open(victim.service.url);
      connection.write(raw.lookUp(`Expect: 100-continue\r\n${raw.lengthOf(raw.body)}`, ''));
      await eventually('100 Continue', () => connection.exchange.interim.length > 0);
      connection.write(raw.body + lastRequest);
      const exchanged = await connection.finish();
      assert.deepEqual(exchanged.interim, [100]);
      assert.deepEqual(differencesOfExchange('continued', [200, 200], exchanged), []);
    }));
});

describeOnEachDatabase('A client that', (database) => {
  // Leaves room for five idle connections of earlier tests.
  const victim = Victim.of(database, { ...SHORT_TIMEOUTS, UGS_MAX_CONNECTIONS: `${CONNECTIONS + 5}` });
  let raw: RawRequests;
  before(() => {
    raw = new RawRequests(victim.service.token, victim.id);
  });

  it('is slow or stops sending gets one error response and is disconnected', () => {
    const length = raw.lengthOf(raw.body);
    const unfinished: Record<string, readonly [bytes: string, ...answers: Expected[]]> = {
      'a partial request line': ['GET /api', timedOut],
      'a partial header': ['GET /api/user HTTP/1.1\r\nHost:', timedOut],
      'unterminated headers': [raw.lookUp(length, '').slice(0, -2), timedOut],
      'no body': [raw.lookUp(length, ''), timedOut],
      'a partial body': [raw.lookUp(length, raw.body.slice(0, 9)), timedOut],
      'a partial chunk': [raw.lookUp(CHUNKED, raw.chunked().slice(0, 9)), timedOut],
      'unterminated chunks': [raw.lookUp(CHUNKED, '1\r\n{\r\n'), timedOut],
      'a partial second request': [raw.lookUp() + raw.lookUp().slice(0, 99), 200, timedOut],
      'a Content-Length that is too large': [raw.lookUp('Content-Length: 300000\r\n', '{'), tooLarge],
      'an unterminated body that is too large': [
        raw.lookUp('Content-Length: 300000\r\n', 'x'.repeat(299_999)),
        tooLarge,
      ],
    };
    const kinds = Object.entries(unfinished).map(([name, [bytes, ...answers]]) => ({ name, bytes, answers }));
    return assertResponses(victim, kinds);
  });

  const disconnects: Record<string, () => string> = {
    'before sending anything': () => '',
    'in the middle of the headers': () => raw.smuggled.slice(0, 60),
    'after the headers': () => raw.smuggled.slice(0, raw.smuggled.indexOf('\r\n\r\n') + 4),
    'in the middle of the body': () => raw.smuggled.slice(0, -5),
    'in the middle of a chunk': () => raw.of('PUT /api/user HTTP/1.1', CHUNKED, raw.chunked().slice(0, 9)),
    'before a response': () => raw.lookUp(),
    'before many responses': () => raw.lookUp().repeat(50),
    'before an error response': () => NOT_HTTP,
    'before the rejection of a CONNECT': () => TUNNEL,
    'before many responses and a rejected CONNECT': () => raw.lookUp().repeat(50) + TUNNEL,
  };
  for (const [when, bytes] of Object.entries(disconnects)) {
    it(`disconnects ${when} leaks nothing`, () =>
      assertUnchanged(victim, async () => {
        for (let round = 0; round < 5; round++) {
          const connections = await openMany(victim.service.url, CONNECTIONS / 2);
          await Promise.all(connections.map((connection, index) => disconnect(connection, bytes(), index)));
        }
        await acceptsConnections(victim.service.url, CONNECTIONS);
      }));
  }

  it('disconnects during a create leaves the complete group or none', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `abandoned ${index}`);
    for (const [index, id] of ids.entries()) {
      const body = JSON.stringify({ user_group_id: id, name: 'Abandoned' });
      const connection = await RawConnection.open(victim.service.url);
      await disconnect(connection, raw.of('GET /api/user HTTP/1.1', raw.lengthOf(body), body), index);
    }
    const teamIds = new Set<number>();
    for (const id of ids) {
      const found = await victim.service.get({ user_group_id: id, name: 'Abandoned' });
      const resolved = await victim.service.resolve(found.json.user_group.token);
      assert.equal(resolved.json.user_group.provided_id, id);
      teamIds.add(resolved.json.user_group.team_id);
    }
    assert.equal(teamIds.size, ids.length);
    assert.deepEqual(victim.errorsLogged(), []);
  });
});

describe('A client that keeps its connection open', () => {
  const env = { ...SHORT_TIMEOUTS, UGS_MAX_CONNECTIONS: `${CONNECTIONS}`, UGS_SHUTDOWN_TIMEOUT_MS: '1000' };
  const lastBytes = {
    'after an error for bytes that are not HTTP': NOT_HTTP,
    'after an error for its headers': `GET / HTTP/1.1\r\nX: ${'a'.repeat(17_408)}\r\n\r\n`,
    'after a rejected CONNECT': TUNNEL,
    'after a rejected CONNECT following a request': `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n${TUNNEL}`,
    'after its last response': lastRequest,
  };
  const stack = suiteStack();
  let service: Service;
  before(async () => {
    service = stack.use(await serve(stack.use(new Folder()), { env }));
  });

  /** Opens connections, of which each gets an answer to the bytes at its position, and ends. */
  function openUntilEnded(bytes: readonly string[]): Promise<RawConnection[]> {
    return eventually('answers on all connections', async () => {
      const open = await openMany(service.url, CONNECTIONS);
      for (const [index, connection] of open.entries()) connection.write(bytes[index % bytes.length]!);
      await Promise.all(open.map((connection) => connection.ended));
      // The service drops connections while it is closing those of the test before.
      if (open.every(({ exchange }) => exchange.answers.length > 0)) return open;
      for (const connection of open) connection.leave();
      return null;
    });
  }

  for (const [when, bytes] of Object.entries(lastBytes)) {
    it(`${when} occupies no connection`, async () => {
      const open = await openUntilEnded([bytes]);
      await acceptsConnections(service.url, CONNECTIONS);
      for (const connection of open) connection.leave();
    });
  }

  it('and keeps sending after a rejected CONNECT occupies no connection after it disconnects', async () => {
    const open = await openUntilEnded([TUNNEL]);
    for (const connection of open) await disconnect(connection, 'hello', 4);
    await acceptsConnections(service.url, CONNECTIONS);
  });

  // Last, because it stops the service, which clients that kept sending have left.
  it('does not delay the shutdown of the service, whatever it sent last', async () => {
    const open = await openUntilEnded(Object.values(lastBytes));
    service.signal('SIGTERM');
    assert.equal((await service.exit(RELEASE_LIMIT_MS)).code, 0);
    for (const connection of open) connection.leave();
  });
});

/** Returns complete requests with their expected responses. */
function wholeRequests(raw: RawRequests): { name: string; bytes: string; answer: Expected }[] {
  const { body } = raw;
  const put = (text: string) => raw.of('PUT /api/user HTTP/1.1', raw.lengthOf(text), text);
  const plain = `Content-Type: text/plain\r\n${raw.lengthOf(body)}`;
  return [
    { name: 'a lookup', bytes: raw.lookUp(), answer: 200 },
    { name: 'a chunked lookup', bytes: raw.lookUp(CHUNKED, raw.chunked()), answer: 200 },
    { name: 'not JSON', bytes: put('x'), answer: invalidJson },
    { name: 'no body', bytes: put(''), answer: bodyMissing },
    { name: 'a body that is too large', bytes: put(body.padEnd(300_000)), answer: tooLarge },
    {
      name: 'an unknown path',
      bytes: raw.of('GET /nowhere HTTP/1.1'),
      answer: { status: 404, code: 'not_found' },
    },
    {
      name: 'another method',
      bytes: raw.of('PATCH /api/user HTTP/1.1'),
      answer: { status: 405, code: 'method_not_allowed' },
    },
    {
      name: 'no API token',
      bytes: raw.lookUp().replace('Authorization', 'X'),
      answer: { status: 401, code: 'unauthenticated' },
    },
    {
      name: 'another media type',
      bytes: raw.lookUp(plain),
      answer: { status: 415, code: 'unsupported_media_type' },
    },
  ];
}

/** Sends each request on its own connection, and fails if any gets unexpected responses. */
async function assertResponses(victim: Victim, kinds: readonly Kind[]): Promise<void> {
  await assertUnchanged(victim, async () => {
    const faults = kinds.map(async ({ name, bytes, answers }) =>
      differencesOfExchange(name, answers, await exchange(victim.service.url, bytes)),
    );
    assert.deepEqual((await Promise.all(faults)).flat(), []);
  });
}

function differencesOfExchange(name: string, expected: readonly Expected[], exchanged: Exchange): string[] {
  const { answers, rest, isEnded } = exchanged;
  const statuses = answers.map(({ status }) => status);
  const wanted = expected.map((each) => (typeof each === 'number' ? each : each.status));
  if (`${statuses}` !== `${wanted}` || rest !== '' || !isEnded) {
    return [
      `${name}: expected ${wanted} and a closed connection, got ${statuses} and ${isEnded ? 'a closed' : 'an open'} connection ${rest}`,
    ];
  }
  return answers.flatMap((answer, index) => {
    const each = expected[index]!;
    if (typeof each !== 'number') return differencesOf(name, each, answer);
    return answer.json.success === 1 ? [] : [`${name}: got ${answer.text}`];
  });
}

/** Sends the bytes and disconnects: `index` selects the delay, and a regular close or a reset. */
async function disconnect(connection: RawConnection, bytes: string, index: number): Promise<void> {
  connection.write(bytes);
  await sleep(index % 5);
  connection.leave(index % 2 === 0 ? 'close' : 'reset');
}

/** Waits until the service accepts this many parallel connections. */
async function acceptsConnections(url: string, count: number): Promise<void> {
  await eventually(
    `${count} connections`,
    async () => {
      const connections = await openMany(url, count);
      for (const connection of connections) connection.write(lastRequest);
      const exchanges = await Promise.all(connections.map((connection) => connection.finish()));
      return exchanges.every(({ answers }) => answers[0]?.status === 200);
    },
    RELEASE_LIMIT_MS,
  );
}

function openMany(url: string, count: number): Promise<RawConnection[]> {
  return Promise.all(Array.from({ length: count }, () => RawConnection.open(url)));
}

function offsetsIn(text: string): number[] {
  return Array.from({ length: text.length - 1 }, (_, index) => index + 1);
}

function bytesOf(bytes: string | Buffer): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
}
