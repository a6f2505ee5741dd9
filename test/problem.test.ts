// Contract: every answer that is no success is one problem object, whatever raised it.

import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type ProblemCode, problems } from '../src/problem.ts';
import { describeOnEachDatabase } from './database.ts';
import type { TestRequest } from './http.ts';
import { assertProblem } from './problem.ts';
import { causes, runSql, withService } from './problem-cause.ts';
import { exchangeOne } from './raw-connection.ts';
import { TestService } from './service.ts';

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
      await runSql(broken.database.url, 'alter table user_groups rename column mapping to elsewhere');
      const { json, text } = await broken.get({ user_group_id: 'a' });
      const entry = broken.logLines.map((line) => JSON.parse(line)).find(({ err }) => err !== undefined);
      assert.deepEqual([entry.level, entry.requestId], [50, json.request_id]);
      assert.match(entry.err.message, /mapping/);
      assert.match(entry.err.stack, /\.ts:\d+/);
      assert.doesNotMatch(text, /mapping|SQL|select|\.ts/i);
    });
  });

  it('name no fault where no field is at fault', async () => {
    const answer = await service.call('GET', '/api/user?x=1', {});
    assertProblem(answer, 'invalid_request');
    assert.equal(answer.json.errors, undefined);
  });

  describe('of names that are not right', () => {
    const LONG = 250_000;
    const SHOWN = 300;
    const id = { user_group_id: 'a' };
    const faulty = (count: number, name: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}${name}`, false]));
    const wholeBodies = Object.entries({
      'a long name': { ...id, ['x'.repeat(LONG)]: 1 },
      'a name that is longer as it is told': { ...id, ['~'.repeat(LONG)]: 1 },
      'a name of control characters': { ...id, ['\u0001'.repeat(LONG / 6)]: 1 },
      'many names': faulty(LONG / 20, 'name'),
      'many long names': faulty(60, '\u{1d4b3}'.repeat(1_000)),
      'many names of entries': { ...id, mapping: faulty(60, '~'.repeat(4_000)) },
      'many entries with long names': { ...id, properties: faulty(60, '~'.repeat(4_000)) },
      'names in names': `${`{"properties":${`{"${'x'.repeat(10_000)}":`.repeat(15)}"\\ud800"`}${'}'.repeat(16)}`,
    });

    it('are short, however long and however many these are', async () => {
      for (const [what, body] of wholeBodies) {
        const answer = await service.get(body);
        assert.equal(answer.status, 400, what);
        assertProblem(answer, answer.json.code);
        assert.ok(answer.text.length < 100_000, `${what}: ${answer.text.length}`);
      }
    });

    it('say where a name is cut', async () => {
      const { detail, errors } = (await service.get({ ...id, ['x'.repeat(SHOWN + 1)]: 1 })).json;
      const pointer = `/${'x'.repeat(SHOWN)}… (cut off)`;
      assert.equal(errors[0].pointer, pointer);
      assert.equal(detail, `${pointer.slice(1)} ${errors[0].detail}.`);
      const query = await service.call('GET', `/v1/user-groups?${'x'.repeat(SHOWN + 1)}=1`);
      assert.ok(query.json.detail.startsWith(`"${'x'.repeat(SHOWN)}… (cut off)" is no parameter`));
    });

    it('say how many there are beside those that they name', async () => {
      const { detail, errors } = (await service.get({ ...id, ...faulty(23, 'name') })).json;
      assert.equal(errors.length, 20);
      assert.match(detail, /; 19name is not a known field [^;]+; and 3 more\.$/);
      const all = (await service.get({ ...id, ...faulty(20, 'name') })).json;
      assert.doesNotMatch(all.detail, /more\.$/);
    });

    it('leave a name whole that could be right, and do not cut characters apart', async () => {
      for (const name of ['\u{1d4b3}'.repeat(255), '~/'.repeat(127), 'k'.repeat(SHOWN)]) {
        const escaped = name.replaceAll('~', '~0').replaceAll('/', '~1');
        const { errors } = (await service.get({ ...id, mapping: { [name]: true } })).json;
        assert.equal(errors[0].pointer, `/mapping/${escaped}`);
      }
      const { errors } = (await service.get({ ...id, [`a${'\u{1d4b3}'.repeat(SHOWN)}`]: 1 })).json;
      assert.equal(errors[0].pointer, `/a${'\u{1d4b3}'.repeat(SHOWN - 1)}… (cut off)`);
    });

    it('do not begin a token whose end they cut off', async () => {
      for (let shown = 1; shown < 40; shown++) {
        const name = `${'x'.repeat(SHOWN - shown - 1)} ${service.token}`;
        const { text } = await service.get({ ...id, [name]: 1 });
        assert.equal(text.includes(service.token.slice(0, 6)), false);
      }
    });
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

    it('are those of the path of a group also where its id is empty', async () => {
      for (const method of ['POST', 'PUT']) {
        const answer = await service.call(method, '/v1/user-groups/', { user_group_id: 'a', name: 'A' });
        assertProblem(answer, 'method_not_allowed');
        assert.equal(answer.headers.allow, 'GET, PATCH, DELETE');
      }
      for (const method of ['GET', 'DELETE']) {
        assertProblem(await service.call(method, '/v1/user-groups/'), 'invalid_request');
      }
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
      '/openapi-json',
    ]) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        assertProblem(await service.call(method, path), 'not_found');
      }
    }
  });

  it('tell whoever asks for a path that is none where the paths are, and how an id stands in one', async () => {
    for (const path of ['/', '/v1/user-groups/a/b']) {
      const { json } = await service.call('GET', path);
      assert.match(json.detail, /\/docs\b.*percent-encoded/);
    }
  });
});

describeOnEachDatabase('a request with everything wrong', (database) => {
  it('is told one thing after the other, in the order of the documentation', async () => {
    await withService(database, { UGS_RATE_LIMIT_PER_MINUTE: '1' }, async (limited) => {
      const spent = (await limited.apiToken()).token;
      await limited.resolve('unknown', { token: spent });
      const path = '/v1/user-groups/%20';
      const faults: [fault: TestRequest, code: ProblemCode, detail: RegExp][] = [
        [{ headers: { authorization: ['Token a', 'Token b'] } }, 'invalid_request', /authorization .* twice/],
        [{ headers: { origin: 'https://elsewhere.example' } }, 'origin_not_allowed', /browsers/],
        [{ path: '/v1/nothing' }, 'not_found', /nothing at this path/],
        [{ method: 'PUT' }, 'method_not_allowed', /GET, PATCH, DELETE/],
        [{ token: 'unknown' }, 'unauthenticated', /valid API token/],
        [{ token: spent }, 'rate_limited', /requests a minute/],
        [
          { token: (await limited.apiToken({ permission: 'read-only' })).token },
          'permission_denied',
          /read-only/,
        ],
        [{ path: `${path}?x=1` }, 'invalid_request', /in the query/],
        [{ headers: { 'content-type': 'text/plain' } }, 'unsupported_media_type', /Content-Type/],
        [{ body: 'x'.repeat(300_000) }, 'body_too_large', /262144 bytes/],
        [{ body: '{' }, 'invalid_json', /The body/],
        [{ path }, 'invalid_request', /user_group_id in the path/],
        [{ headers: { 'if-match': 'x' } }, 'invalid_request', /If-Match/],
        [{ path: '/v1/user-groups/missing' }, 'user_group_not_found', /no user group/],
      ];
      for (const [index, [, code, detail]] of faults.entries()) {
        const { token } = await limited.apiToken();
        const left = faults.slice(index).map(([fault]) => fault);
        const headers = Object.assign({}, ...left.map((fault) => fault.headers));
        const { method, ...request } = Object.assign(
          { method: 'PATCH', token, body: {} },
          ...left.toReversed(),
        );
        const answer = await limited.call(method, request.path, request.body, { ...request, headers });
        assertProblem(answer, code);
        assert.match(answer.json.detail, detail);
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
