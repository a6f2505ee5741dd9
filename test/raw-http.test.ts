// Contract: every answer that is no success is one problem object, also where the request is no HTTP. A connection
// gives as many answers as it was sent requests, in their order; what is refused is not done, and who goes away
// leaves nothing behind.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { lastRequest, RawRequests, rawTables, upgrades } from './bad-input/raw-cases.ts';
import { faultsOf, leavesNoTrace, type Refusal } from './bad-input/refusal.ts';
import { Victim } from './bad-input/victim.ts';
import { describeOnEachDatabase } from './database.ts';
import { eventually, Folder, serve } from './process.ts';
import { type Exchange, exchange, RawConnection } from './raw-connection.ts';

type Expected = number | Refusal;
interface Kind {
  name: string;
  bytes: string | Buffer;
  answers: readonly Expected[];
}

const badRequest: Refusal = { status: 400, code: 'invalid_request' };
const invalidJson: Refusal = { status: 400, code: 'invalid_json', pointer: '' };
const bodyMissing: Refusal = { status: 400, code: 'body_missing' };
const timedOut: Refusal = { status: 408, code: 'request_timeout' };
const tooLarge: Refusal = { status: 413, code: 'body_too_large' };

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const NO_HTTP = '\x01\x02\r\n\r\n';
const TUNNEL = 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n';

const CONNECTIONS = 20;
const SHORT_TIMEOUTS = { UGS_HEADERS_TIMEOUT_MS: '400', UGS_REQUEST_TIMEOUT_MS: '800' };
/** A service that holds a connection for longer than this, after its client has no use for it, leaks it. */
const RELEASE_LIMIT_MS = 5_000;

describeOnEachDatabase('A connection', (database) => {
  let victim: Victim;
  let raw: RawRequests;
  before(async () => {
    victim = await Victim.start(database);
    raw = new RawRequests(victim.service.token, victim.id);
  });
  after(() => victim.end());

  describe('answers once and stays in step where a request', () => {
    for (const [sentence, { requests, answer, goesOn }] of Object.entries(rawTables)) {
      it(sentence, (t) => {
        // A refusal that ends the connection waits for nothing more to arrive.
        const followers = goesOn ? [lastRequest] : ['', lastRequest];
        const answers = goesOn ? [answer, 200] : [answer];
        const kinds = Object.entries(requests(raw)).flatMap(([name, bytes]) =>
          followers.map((follower) => ({
            name,
            bytes: Buffer.concat([bytesOf(bytes), bytesOf(follower)]),
            answers,
          })),
        );
        t.diagnostic(`${kinds.length} cases`);
        return answersAll(victim, kinds);
      });
    }
  });

  it('answers every pair of requests in their order, whatever becomes of them', () => {
    const kinds = wholeRequests(raw);
    const pairs = kinds.flatMap((first) =>
      kinds.map((second) => ({
        name: `${first.name}, then ${second.name}`,
        bytes: first.bytes + second.bytes + lastRequest,
        answers: [first.answer, second.answer, 200],
      })),
    );
    return answersAll(victim, pairs);
  });

  it('answers a whole request also where what follows it is no HTTP', () => {
    const whole = [
      ...wholeRequests(raw).map((request) => ({ ...request, bytes: request.bytes + NO_HTTP })),
      { name: 'a length too short', bytes: raw.lookUp('Content-Length: 5\r\n'), answer: invalidJson },
      { name: 'a body without a length', bytes: raw.lookUp(''), answer: bodyMissing },
    ];
    return answersAll(
      victim,
      whole.map(({ answer, ...request }) => ({ ...request, answers: [answer, badRequest] })),
    );
  });

  it('answers nothing after a request that was to be the last', () => {
    const closing = raw.lookUp(`Connection: close\r\n${raw.lengthOf(raw.body)}`);
    const old = raw.of('GET /api/user HTTP/1.0');
    return answersAll(victim, [
      { name: 'Connection: close', bytes: closing + raw.smuggled, answers: [200] },
      { name: 'HTTP/1.0', bytes: old + raw.smuggled, answers: [200] },
    ]);
  });

  it('goes on with HTTP/1.1 after a request that asks for another protocol', () =>
    leavesNoTrace(victim, async () => {
      for (const [name, bytes] of Object.entries(upgrades(raw))) {
        const connection = await RawConnection.open(victim.service.url);
        connection.write(bytes);
        await eventually('an answer', () => connection.exchange.answers.length > 0);
        connection.write(lastRequest);
        assert.deepEqual(faultsOfExchange(name, [200, 200], await connection.finish()), []);
      }
    }));

  it('answers a request the same however it is cut into packets', () =>
    leavesNoTrace(victim, async () => {
      const request = raw.lookUp(CHUNKED, raw.chunked()) + lastRequest;
      const sendCut = async (at: number): Promise<string[]> => {
        const connection = await RawConnection.open(victim.service.url);
        connection.write(request.slice(0, at));
        await turn();
        connection.write(request.slice(at));
        return faultsOfExchange(`cut at ${at}`, [200, 200], await connection.finish());
      };
      assert.deepEqual((await Promise.all(placesIn(request).map(sendCut))).flat(), []);
    }));

  it('does nothing of a request that ends before it is whole, wherever it ends', () =>
    leavesNoTrace(victim, async () => {
      const sendUntil = async (end: number): Promise<string[]> => {
        const connection = await RawConnection.open(victim.service.url);
        connection.write(raw.smuggled.slice(0, end));
        connection.end();
        return faultsOfExchange(`ends at ${end}`, [badRequest], await connection.finish());
      };
      assert.deepEqual((await Promise.all(placesIn(raw.smuggled).map(sendUntil))).flat(), []);
    }));

  it('invites a body that waits to be invited', () =>
    leavesNoTrace(victim, async () => {
      const connection = await RawConnection.open(victim.service.url);
      connection.write(raw.lookUp(`Expect: 100-continue\r\n${raw.lengthOf(raw.body)}`, ''));
      await eventually('an invitation', () => connection.exchange.interim.length > 0);
      connection.write(raw.body + lastRequest);
      const exchanged = await connection.finish();
      assert.deepEqual(exchanged.interim, [100]);
      assert.deepEqual(faultsOfExchange('invited', [200, 200], exchanged), []);
    }));
});

describeOnEachDatabase('A client that', (database) => {
  let victim: Victim;
  let raw: RawRequests;
  before(async () => {
    // Five more than are counted: those that an earlier test has left idle.
    const env = { ...SHORT_TIMEOUTS, UGS_MAX_CONNECTIONS: `${CONNECTIONS + 5}` };
    victim = await Victim.start(database, { env });
    raw = new RawRequests(victim.service.token, victim.id);
  });
  after(() => victim.end());

  it('is slow, or sends nothing more, is told so once, and its connection ends', () => {
    const length = raw.lengthOf(raw.body);
    const unfinished: Record<string, readonly [bytes: string, ...answers: Expected[]]> = {
      'half a request line': ['GET /api', timedOut],
      'half a header': ['GET /api/user HTTP/1.1\r\nHost:', timedOut],
      'headers without end': [raw.lookUp(length, '').slice(0, -2), timedOut],
      'no body': [raw.lookUp(length, ''), timedOut],
      'half a body': [raw.lookUp(length, raw.body.slice(0, 9)), timedOut],
      'half a chunk': [raw.lookUp(CHUNKED, raw.chunked().slice(0, 9)), timedOut],
      'chunks without end': [raw.lookUp(CHUNKED, '1\r\n{\r\n'), timedOut],
      'half a second request': [raw.lookUp() + raw.lookUp().slice(0, 99), 200, timedOut],
      'an announcement of too much': [raw.lookUp('Content-Length: 300000\r\n', '{'), tooLarge],
      'too much, and never the end': [
        raw.lookUp('Content-Length: 300000\r\n', 'x'.repeat(299_999)),
        tooLarge,
      ],
    };
    const kinds = Object.entries(unfinished).map(([name, [bytes, ...answers]]) => ({ name, bytes, answers }));
    return answersAll(victim, kinds);
  });

  const departures: Record<string, () => string> = {
    'before it has sent anything': () => '',
    'amid the headers': () => raw.smuggled.slice(0, 60),
    'after the headers': () => raw.smuggled.slice(0, raw.smuggled.indexOf('\r\n\r\n') + 4),
    'amid the body': () => raw.smuggled.slice(0, -5),
    'amid a chunk': () => raw.of('PUT /api/user HTTP/1.1', CHUNKED, raw.chunked().slice(0, 9)),
    'before an answer': () => raw.lookUp(),
    'before many answers': () => raw.lookUp().repeat(50),
    'before a refusal': () => NO_HTTP,
    'before it is refused a tunnel': () => TUNNEL,
  };
  for (const [when, bytes] of Object.entries(departures)) {
    it(`goes away ${when} leaves nothing behind`, () =>
      leavesNoTrace(victim, async () => {
        for (let round = 0; round < 5; round++) {
          const connections = await openMany(victim.service.url, CONNECTIONS / 2);
          await Promise.all(connections.map((connection, index) => depart(connection, bytes(), index)));
        }
        await takesConnections(victim.service.url, CONNECTIONS);
      }));
  }

  it('goes away before a group is created for it leaves it whole or not at all', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `abandoned ${index}`);
    for (const [index, id] of ids.entries()) {
      const body = JSON.stringify({ user_group_id: id, name: 'Abandoned' });
      const connection = await RawConnection.open(victim.service.url);
      await depart(connection, raw.of('GET /api/user HTTP/1.1', raw.lengthOf(body), body), index);
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

describe('A client that does not hang up', () => {
  const env = { ...SHORT_TIMEOUTS, UGS_MAX_CONNECTIONS: `${CONNECTIONS}`, UGS_SHUTDOWN_TIMEOUT_MS: '1000' };
  const endings = {
    'after it was refused for what is no HTTP': NO_HTTP,
    'after it was refused for its headers': `GET / HTTP/1.1\r\nX: ${'a'.repeat(17_408)}\r\n\r\n`,
    'after it was refused a tunnel': TUNNEL,
    'after its last answer': lastRequest,
  };
  for (const [when, bytes] of Object.entries(endings)) {
    it(`${when} holds no connection, and does not hold up the end of the service`, async () => {
      using folder = new Folder();
      await using service = await serve(folder, { env });
      const staying = await openMany(service.url, CONNECTIONS);
      for (const connection of staying) connection.write(bytes);
      await Promise.all(staying.map((connection) => connection.ended));
      await takesConnections(service.url, CONNECTIONS);
      service.signal('SIGTERM');
      assert.equal((await service.exit(RELEASE_LIMIT_MS)).code, 0);
      for (const connection of staying) connection.leave();
    });
  }

  it('but talks on after it was refused a tunnel holds no connection once it has gone', async () => {
    using folder = new Folder();
    await using service = await serve(folder, { env });
    const talking = await openMany(service.url, CONNECTIONS);
    for (const connection of talking) connection.write(TUNNEL);
    await Promise.all(talking.map((connection) => connection.ended));
    for (const connection of talking) await depart(connection, 'hello', 4);
    await takesConnections(service.url, CONNECTIONS);
    service.signal('SIGTERM');
    assert.equal((await service.exit(RELEASE_LIMIT_MS)).code, 0);
  });
});

/** Requests that are read whole, and what becomes of each. */
function wholeRequests(raw: RawRequests): { name: string; bytes: string; answer: Expected }[] {
  const { body } = raw;
  const put = (text: string) => raw.of('PUT /api/user HTTP/1.1', raw.lengthOf(text), text);
  const plain = `Content-Type: text/plain\r\n${raw.lengthOf(body)}`;
  return [
    { name: 'a look-up', bytes: raw.lookUp(), answer: 200 },
    { name: 'a look-up in chunks', bytes: raw.lookUp(CHUNKED, raw.chunked()), answer: 200 },
    { name: 'no JSON', bytes: put('x'), answer: invalidJson },
    { name: 'no body', bytes: put(''), answer: bodyMissing },
    { name: 'too large a body', bytes: put(body.padEnd(300_000)), answer: tooLarge },
    { name: 'nowhere', bytes: raw.of('GET /nowhere HTTP/1.1'), answer: { status: 404, code: 'not_found' } },
    {
      name: 'another method',
      bytes: raw.of('PATCH /api/user HTTP/1.1'),
      answer: { status: 405, code: 'method_not_allowed' },
    },
    {
      name: 'nobody',
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

/** Sends each on a connection of its own, and fails with those that were not answered just so. */
async function answersAll(victim: Victim, kinds: readonly Kind[]): Promise<void> {
  await leavesNoTrace(victim, async () => {
    const faults = kinds.map(async ({ name, bytes, answers }) =>
      faultsOfExchange(name, answers, await exchange(victim.service.url, bytes)),
    );
    assert.deepEqual((await Promise.all(faults)).flat(), []);
  });
}

function faultsOfExchange(name: string, expected: readonly Expected[], exchanged: Exchange): string[] {
  const { answers, rest, isEnded } = exchanged;
  const statuses = answers.map(({ status }) => status);
  const wanted = expected.map((each) => (typeof each === 'number' ? each : each.status));
  if (`${statuses}` !== `${wanted}` || rest !== '' || !isEnded) {
    return [
      `${name}: expected ${wanted} and the end, got ${statuses} and ${isEnded ? 'the end' : 'no end'} ${rest}`,
    ];
  }
  return answers.flatMap((answer, index) => {
    const each = expected[index]!;
    if (typeof each !== 'number') return faultsOf(name, each, answer);
    return answer.json.success === 1 ? [] : [`${name}: got ${answer.text}`];
  });
}

/** Sends something and goes away: before it is read or after, in order or with a reset, as `index` has it. */
async function depart(connection: RawConnection, bytes: string, index: number): Promise<void> {
  connection.write(bytes);
  await sleep(index % 5);
  connection.leave(index % 2 === 0 ? 'close' : 'reset');
}

/** Waits until the service takes this many connections at one time. */
async function takesConnections(url: string, count: number): Promise<void> {
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

function placesIn(text: string): number[] {
  return Array.from({ length: text.length - 1 }, (_, index) => index + 1);
}

function bytesOf(bytes: string | Buffer): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
}
