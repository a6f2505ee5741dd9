// Contract: every answer that is no success is one problem object, whatever raised it.

import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { type ProblemCode, problems } from '../src/problem.ts';
import { type DatabaseKind, describeOnEachDatabase } from './database.ts';
import type { TestAnswer } from './http.ts';
import { TestService } from './service.ts';

const ANSWER_WITHIN_MS = 20_000;

/** Sends bytes as they are, on a connection of their own; the answers, once the service has closed it. */
function exchange(service: TestService, ...bytes: (string | Buffer)[]): Promise<TestAnswer[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => {}); // A service that closes while bytes are under way resets the connection.
    socket.on('close', () => resolve(answersIn(Buffer.concat(chunks).toString())));
    socket.setTimeout(ANSWER_WITHIN_MS, () => {
      socket.destroy();
      reject(new Error('the service did not close the connection'));
    });
    for (const part of bytes) socket.write(part);
  });
}

function answersIn(text: string): TestAnswer[] {
  const answers: TestAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const [statusLine = '', ...lines] = rest.slice(0, end - 4).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const body = Buffer.from(rest.slice(end)).subarray(0, Number(headers['content-length'])).toString();
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, text: body, json: JSON.parse(body) });
    rest = rest.slice(end + body.length);
  }
  return answers;
}

async function exchangeOne(service: TestService, ...bytes: (string | Buffer)[]): Promise<TestAnswer> {
  const answers = await exchange(service, ...bytes);
  assert.equal(answers.length, 1, JSON.stringify(answers));
  return answers[0]!;
}

/** The whole answer, byte for byte; only the wording of the detail and the faults is left to other tests. */
function assertProblem(answer: TestAnswer, code: ProblemCode): void {
  const { status, title } = problems[code];
  const { detail, request_id, errors } = answer.json;
  assert.equal(answer.json.code, code, answer.text);
  assert.equal(answer.status, status);
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.equal(answer.headers['x-request-id'], request_id);
  assert.match(request_id, /^[\w-]{8,}$/);
  assert.match(detail, /^\S.*\.$/s);
  const start = { success: 0, type: `/errors#${code}`, title, status, detail, code, request_id };
  assert.equal(answer.text, JSON.stringify(errors === undefined ? start : { ...start, errors }));
  const namesFaults = ['invalid_json', 'unknown_field'].includes(code);
  if (code !== 'invalid_request') assert.equal(errors !== undefined, namesFaults);
  for (const fault of errors ?? []) {
    assert.deepEqual(Object.keys(fault), ['pointer', 'detail']);
    assert.match(fault.pointer, /^(\/.*)?$/s);
  }
  assert.equal(answer.headers['retry-after'] !== undefined, status === 429 || status === 503);
  assert.equal(answer.headers['www-authenticate'] !== undefined, status === 401);
  assert.equal(answer.headers.allow !== undefined, status === 405);
}

/** Changes the database behind the service's back. */
async function runSql(url: string, sql: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    using file = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 });
    file.exec(sql);
    return;
  }
  const client = new pg.Client(url);
  await client.connect();
  await client.query(sql);
  await client.end();
}

async function withService<Result>(
  database: DatabaseKind,
  env: Record<string, string>,
  use: (service: TestService) => Promise<Result>,
): Promise<Result> {
  const service = await TestService.start(database, { env });
  try {
    return await use(service);
  } finally {
    await service.end();
  }
}

/** One way to each code: a code that nothing can cause has no place in the table. */
const causes = (database: DatabaseKind, service: () => TestService) =>
  ({
    invalid_json: () => service().get('{'),
    invalid_request: () => service().get({ user_group_id: 7 }),
    unknown_field: () => service().get({ user_group_id: 'a', colour: 'red' }),
    body_missing: () => service().get(undefined),
    unauthenticated: () => service().get({}, { token: null }),
    permission_denied: async () => {
      const { token } = await service().apiToken({ permission: 'resolve' });
      return service().get({}, { token });
    },
    origin_not_allowed: () => service().get({}, { headers: { origin: 'https://evil.example.com' } }),
    user_group_not_found: () => service().get({ user_group_id: 'nobody' }),
    user_group_token_not_found: () => service().resolve('unknown'),
    not_found: () => service().call('GET', '/nothing'),
    method_not_allowed: () => service().call('TRACE', '/api/user'),
    request_timeout: () =>
      withService(database, { UGS_HEADERS_TIMEOUT_MS: '200' }, (slow) =>
        exchangeOne(slow, 'GET /api/user HT'),
      ),
    version_mismatch: async () => {
      await service().get({ user_group_id: 'version', name: 'V' });
      return service().put({ user_group_id: 'version' }, { headers: { 'if-match': '"other"' } });
    },
    body_too_large: () => service().get(' '.repeat(256 * 1024 + 1)),
    unsupported_media_type: () => service().get({}, { headers: { 'content-type': 'text/plain' } }),
    rate_limited: () =>
      withService(database, { UGS_RATE_LIMIT_PER_MINUTE: '1' }, async (limited) => {
        await limited.resolve('unknown');
        return limited.resolve('unknown');
      }),
    headers_too_large: () => exchangeOne(service(), `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    internal_error: () =>
      withService(database, {}, async (broken) => {
        await runSql(broken.database.url, 'alter table user_groups rename to elsewhere');
        return broken.get({ user_group_id: 'a' });
      }),
    overloaded: () =>
      withService(database, { UGS_QUEUE_LIMIT: '1' }, async (busy) => {
        const ids = Array.from({ length: 200 }, (_, index) => `group-${index}`);
        const answers = await Promise.all(ids.map((id) => busy.get({ user_group_id: id, name: id })));
        return answers.find(({ status }) => status === 503)!;
      }),
    database_unavailable: async () => {
      await service().get({ user_group_id: 'unreadable', name: 'U' });
      await runSql(
        service().database.url,
        "update user_groups set token_ciphertext = 'damaged' where provided_id = 'unreadable'",
      );
      return service().get({ user_group_id: 'unreadable' });
    },
    shutting_down: () =>
      withService(database, { UGS_SHUTDOWN_DELAY_MS: '500' }, async (ending) => {
        const stopped = ending.stop();
        const answer = await ending.call('GET', '/readyz');
        await stopped;
        await ending.startApp();
        return answer;
      }),
  }) satisfies Record<ProblemCode, () => Promise<TestAnswer>>;

describeOnEachDatabase('problems', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  for (const [code, cause] of Object.entries(causes(database, () => service))) {
    it(`${problems[code as ProblemCode].status} ${code} is one object, with the headers that belong to it`, async () => {
      assertProblem(await cause(), code as ProblemCode);
    });
  }

  it('log a mistake of the service whole, under the request id, and tell the caller nothing of it', async () => {
    await withService(database, {}, async (broken) => {
      await runSql(broken.database.url, 'alter table user_groups rename to elsewhere');
      const { json, text } = await broken.get({ user_group_id: 'a' });
      const entry = broken.logLines.map((line) => JSON.parse(line)).find(({ err }) => err !== undefined);
      assert.deepEqual([entry.level, entry.requestId], [50, json.request_id]);
      assert.match(entry.err.message, /user_groups/);
      assert.match(entry.err.stack, /\.ts:\d+/);
      assert.doesNotMatch(text, /user_groups|SQL|select|\.ts/i);
    });
  });

  it('name no fault where no field is at fault', async () => {
    const answer = await service.call('GET', '/api/user?x=1', {});
    assertProblem(answer, 'invalid_request');
    assert.equal(answer.json.errors, undefined);
  });

  describe('on a method that a path does not take', () => {
    const creating = { user_group_id: 'by another method', name: 'Nobody' };

    for (const method of METHODS.filter((each) => !['GET', 'PUT', 'POST', 'CONNECT'].includes(each))) {
      it(`are 405 with Allow, and nothing is done: ${method}`, async () => {
        for (const path of ['/api/user', '/api/user/']) {
          const answer = await service.call(method, path, creating, { headers: { connection: 'close' } });
          assert.equal(answer.headers.allow, 'GET, PUT, POST');
          if (method === 'HEAD') {
            assert.deepEqual([answer.status, answer.text], [405, '']);
            assert.ok(answer.headers['x-request-id']);
          } else {
            assertProblem(answer, 'method_not_allowed');
          }
        }
        assert.equal((await service.get({ user_group_id: creating.user_group_id })).status, 404);
      });
    }

    it('are 405 for CONNECT too, which is no request for a path', async () => {
      const answer = await exchangeOne(
        service,
        'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
      );
      assertProblem(answer, 'method_not_allowed');
      assert.equal(answer.headers.allow, 'GET, PUT, POST');
    });

    it('are 405 however the path is written', async () => {
      const { host } = new URL(service.url);
      for (const path of ['/api/user?x=1', `http://${host}/api/user`, '/api/%75ser']) {
        const answer = await exchangeOne(
          service,
          `DELETE ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        );
        assertProblem(answer, 'method_not_allowed');
        assert.equal(answer.headers.allow, 'GET, PUT, POST');
      }
    });

    it('list in Allow what the path does take', async () => {
      const answer = await service.call('DELETE', '/v1/resolve');
      assertProblem(answer, 'method_not_allowed');
      assert.equal(answer.headers.allow, 'POST');
    });
  });

  it('are 404 on every path that is none', async () => {
    for (const path of [
      '/',
      '/api',
      '/api/users',
      '/API/user',
      '/api/user//',
      '/api/user/x',
      '/v1',
      '/v1/resolve/x',
    ]) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        assertProblem(await service.call(method, path), 'not_found');
      }
    }
  });

  describe('on what Node does not take for HTTP', () => {
    const host = 'Host: a\r\nConnection: close\r\n';
    const requests: Record<string, string | Buffer> = {
      'no HTTP at all': 'hello\r\n\r\n',
      'a TLS handshake': Buffer.from('16030100c8010000c40303', 'hex'),
      'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'an unknown method': `BREW /api/user HTTP/1.1\r\n${host}\r\n`,
      'an unknown version': `GET /api/user HTTP/9.1\r\n${host}\r\n`,
      'no Host': 'GET /api/user HTTP/1.1\r\nConnection: close\r\n\r\n',
      'two Hosts': `GET /api/user HTTP/1.1\r\nHost: b\r\n${host}\r\n`,
      'a path that cannot be decoded': `GET /api/%zz HTTP/1.1\r\n${host}\r\n`,
      'a path that is not UTF-8': `GET /v1/user-groups/%ff HTTP/1.1\r\n${host}\r\n`,
      'a header without a colon': `GET /api/user HTTP/1.1\r\n${host}nonsense\r\n\r\n`,
      'a space before the colon': `GET /api/user HTTP/1.1\r\n${host}X : y\r\n\r\n`,
      'a null character in a header': `GET /api/user HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`,
      'a header that goes on in the next line': `GET /api/user HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`,
      'a length that is no number': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: two\r\n\r\n{}`,
      'a negative length': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: -2\r\n\r\n{}`,
      'two lengths': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 1\r\n\r\n{}`,
      'a length and chunks': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      'an unknown transfer coding': `PUT /api/user HTTP/1.1\r\n${host}Transfer-Encoding: gzip\r\n\r\n{}`,
    };
    for (const [what, bytes] of Object.entries(requests)) {
      it(`are 400: ${what}`, async () => {
        assertProblem(await exchangeOne(service, bytes), 'invalid_request');
      });
    }

    it('are 400 where a header stands twice of which only one can count', async () => {
      const twice: Record<string, string[]> = {
        'content-type': ['application/json', 'text/plain'],
        'content-encoding': ['identity', 'gzip'],
        'if-match': ['*', '"other"'],
        origin: [service.url, 'https://evil.example.com'],
      };
      for (const [name, values] of Object.entries(twice)) {
        for (const each of [values, values.toReversed(), values.slice(0, 1).concat(values.slice(0, 1))]) {
          const answer = await service.put({ user_group_id: 'nobody' }, { headers: { [name]: each } });
          assertProblem(answer, 'invalid_request');
          assert.ok(answer.json.detail.includes(name), answer.json.detail);
        }
      }
    });

    it('are 400 where a chunk of the body is broken', async () => {
      const start = `GET /api/user HTTP/1.1\r\n${host}Authorization: Token ${service.token}\r\n`;
      const answer = await exchangeOne(service, `${start}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
      assertProblem(answer, 'invalid_request');
    });

    it('end the connection, so that nothing behind is taken for a request', async () => {
      const body = '{"user_group_id":"smuggled","name":"S"}';
      const hidden =
        `GET /api/user HTTP/1.1\r\n${host}Authorization: Token ${service.token}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`;
      const request = `POST /api/user HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n`;
      assertProblem(await exchangeOne(service, `${request}0\r\n\r\n${hidden}`), 'invalid_request');
      assert.equal((await service.get({ user_group_id: 'smuggled' })).status, 404);
    });

    it('are 431 where the headers or the path are too large', async () => {
      for (const head of [
        `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(16_384)}\r\n\r\n`,
        `GET /${'x'.repeat(16_384)} HTTP/1.1\r\n${host}\r\n`,
        `GET / HTTP/1.1\r\n${host}${'x: y\r\n'.repeat(3_000)}\r\n`,
      ]) {
        assertProblem(await exchangeOne(service, head), 'headers_too_large');
      }
    });
  });

  it('are 413 as soon as the length is announced, without waiting for the body', async () => {
    const head = `GET /api/user HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Token ${service.token}\r\n`;
    assertProblem(await exchangeOne(service, `${head}Content-Length: 262145\r\n\r\n`), 'body_too_large');
  });

  describe('on a request that takes too long', () => {
    let slow: TestService;
    before(async () => {
      slow = await TestService.start(database, {
        env: { UGS_HEADERS_TIMEOUT_MS: '200', UGS_REQUEST_TIMEOUT_MS: '400' },
      });
    });
    after(() => slow.end());

    it('are 408 where the headers do not arrive', async () => {
      assertProblem(await exchangeOne(slow, 'GET /api/user HTTP/1.1\r\nHost: a\r\n'), 'request_timeout');
    });

    it('are 408 where the body does not arrive, and nothing is done', async () => {
      const body = '{"user_group_id":"slow","name":"Slow"}';
      for (const length of [`Content-Length: ${body.length + 1}`, 'Transfer-Encoding: chunked']) {
        const head = `GET /api/user HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${slow.token}\r\n${length}\r\n\r\n`;
        const sent = length.startsWith('Content') ? body : `${body.length.toString(16)}\r\n${body}\r\n`;
        assertProblem(await exchangeOne(slow, head, sent), 'request_timeout');
      }
      assert.equal((await slow.get({ user_group_id: 'slow' })).status, 404);
    });
  });

  describe('never echo a token', () => {
    let tokens: string[];
    before(async () => {
      const { token } = (await service.get({ user_group_id: 'secret', name: 'S' })).json.user_group;
      tokens = [token, service.token];
    });

    /** Requests that hold a token where it does not belong. */
    function requestsWith(token: string): Promise<TestAnswer>[] {
      const escaped = token.replaceAll('_', '\\u005f');
      const bodies = [
        { [token]: 1 },
        { user_group_id: 'a', [`x${token}x`]: 1 },
        { user_group_id: 'a', mapping: { [token]: null } },
        { user_group_id: 'a', mapping: { a: { [token]: 1 } } },
        { user_group_id: `${token}\n` },
        { user_group_id: [token], name: token.repeat(9), properties: token },
        `{"user_group_id":"a","properties":{"${token}":1,"${token}":2}}`,
        `{"user_group_id":"a","properties":{"a":[{"${escaped}":{"__proto__":1}}]}}`,
        `{"user_group_id":"a","properties":{"${token}":"\\ud800"}}`,
        Buffer.concat([Buffer.from(`{"properties":{"${token}":"`), Buffer.from([0xff]), Buffer.from('"}}')]),
        `{"${escaped}":1}`,
        `"${token}"`,
        token,
        `{}${token}`,
      ];
      const headers = [
        { 'content-type': token },
        { 'content-encoding': token },
        { 'if-match': token },
        { origin: `https://${token}` },
        { authorization: `Token ${token}x` },
        { authorization: `Bearer ${token}` },
        { authorization: [`Token ${token}`, token] },
        { expect: token },
      ];
      const id = { user_group_id: 'nobody' };
      return [
        ...bodies.flatMap((body) => [
          service.get(body),
          service.put(body),
          service.post(body),
          service.call('POST', '/v1/resolve', body),
        ]),
        ...headers.map((each) => service.put(id, { headers: each })),
        ...[`/${token}`, `/api/user?${token}`, `/api/user/${token}`, `/%zz${token}`].map((path) =>
          service.call('PUT', path, id),
        ),
        service.post({ current_token: `${token}x` }),
        service.post({ current_token: token, grace_period_seconds: token }),
        service.post({ current_token: token, [token]: 1 }),
        service.post({ user_group_id: token, name: token }),
        service.resolve(`${token} `),
        exchangeOne(service, `GET / HTTP/1.1\r\n${token}\r\n\r\n`),
        exchangeOne(service, `${token} / HTTP/1.1\r\n\r\n`),
        exchangeOne(service, `GET / HTTP/1.1\r\nX: ${token.repeat(400)}\r\n\r\n`),
      ];
    }

    it('in the body or a header of a refusal, wherever it was sent', async () => {
      for (const token of tokens) {
        for (const answer of await Promise.all(requestsWith(token))) {
          assert.equal(answer.json.success, 0, answer.text);
          const whole = answer.text + JSON.stringify(answer.headers);
          assert.equal(whole.includes(token.slice(4, 40)), false, whole);
        }
      }
    });

    it('in the log', async () => {
      for (const token of tokens) {
        await Promise.all(requestsWith(token));
        assert.equal(service.logLines.join('').includes(token.slice(4, 40)), false);
      }
    });
  });
});

describeOnEachDatabase('X-Request-Id and Cache-Control', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  it('stand on every answer, the id never twice', async () => {
    const { token } = (await service.get({ user_group_id: 'there', name: 'There' })).json.user_group;
    const close = 'Host: a\r\nConnection: close\r\n';
    const answers = await Promise.all([
      service.get({ user_group_id: 'there' }),
      service.put({ user_group_id: 'there' }),
      service.post({ current_token: token }),
      service.resolve(token),
      service.call('POST', '/v1/user-groups', { user_group_id: 'there' }),
      service.call('HEAD', '/api/user'),
      service.call('GET', '/healthz'),
      service.call('HEAD', '/healthz'),
      service.call('GET', '/readyz'),
      service.call('GET', '/nothing'),
      service.call('GET', '/%'),
      service.get({ user_group_id: 'there' }, { headers: { expect: 'tea' } }),
      service.get({ user_group_id: 'there' }, { token: null }),
      exchangeOne(service, `GET /nothing HTTP/1.0\r\n\r\n`),
      exchangeOne(service, `GET /nothing HTTP/1.1\r\n${close}\r\n`),
      exchangeOne(service, `OPTIONS * HTTP/1.1\r\n${close}\r\n`),
      exchangeOne(service, 'hello\r\n\r\n'),
      exchangeOne(service, `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
      exchangeOne(service, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'),
    ]);
    for (const { headers, status } of answers) {
      assert.match(String(headers['x-request-id']), /^[\w-]{8,}$/, `the answer ${status}`);
      assert.equal(headers['cache-control'], 'no-store');
    }
    assert.equal(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, answers.length);
  });

  it('find the request in the log', async () => {
    const { headers } = await service.get({ user_group_id: 'there' });
    const entries = service.logLines.map((line) => JSON.parse(line));
    const entry = entries.find(({ requestId }) => requestId === headers['x-request-id']);
    assert.deepEqual([entry.method, entry.path, entry.status], ['GET', '/api/user', 200]);
  });

  it('stand on a request that asks for another protocol, which is answered as it is', async () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    const answer = await service.call('GET', '/nothing', undefined, { headers: upgrade });
    assertProblem(answer, 'not_found');
  });
});
