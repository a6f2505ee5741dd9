// Contract: every error response is one problem object, whatever causes it.

import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { describe, it } from 'node:test';
import { openApi } from '../../scripts/openapi/document.ts';
import { problems } from '../../src/http/response/problem.ts';
import * as surface from '../../src/http/routes.ts';
import type { ProblemCode } from '../../src/problem.ts';
import { ApiDescription } from '../support/api-description/api-description.ts';
import { causes, servicesOf } from '../support/api-description/problem-cause.ts';
import { exchangeOne } from '../support/connection/raw-connection.ts';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import type { TestRequest } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import type { LogEntry } from '../support/service.ts';

const description = new ApiDescription(openApi(surface));

describeOnEachDatabase('problems', (database) => {
  const services = servicesOf(database);
  const { service, limited, broken } = services;

  for (const [code, cause] of Object.entries(causes(database, services))) {
    const { status } = problems[code as ProblemCode];
    it(`${status} ${code} is one problem object with its headers, as described`, async () => {
      const response = await cause();
      assertProblem(response, code as ProblemCode);
      const operation = description.operations.find((each) =>
        description.errorCodes(each).includes(code as ProblemCode),
      );
      description.assertDescribed(operation!, response);
    });
  }

  it('log an internal error completely, with the request id, and hide it from the caller', async () => {
    const { json, text } = await broken.get({ user_group_id: 'a' });
    // Finds the error by request id: if other statements share the batch, an error of the batch precedes
    // it.
    const isError = ({ err, requestId }: LogEntry) => err !== undefined && requestId === json.request_id;
    const entry = await broken.logEntry('the error', isError);
    assert.equal(entry.level, 50);
    assert.match(entry.err.message, /mapping/);
    assert.match(entry.err.stack, /\.[jt]s:\d+/);
    assert.doesNotMatch(text, /mapping|SQL|select|\.[jt]s\b/i);
  });

  // The database does not change the responses to invalid requests.
  if (database !== sqlite) return;

  it('have no errors array if no field is invalid', async () => {
    const response = await service.call('GET', '/api/user?x=1', {});
    assertProblem(response, 'invalid_request');
    assert.equal(response.json.errors, undefined);
  });

  describe('about invalid names', () => {
    const LONG = 250_000;
    const SHOWN = 300;
    const id = { user_group_id: 'a' };
    const invalidEntries = (count: number, name: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}${name}`, false]));
    const wholeBodies = Object.entries({
      'a long name': { ...id, ['x'.repeat(LONG)]: 1 },
      'a name that escaping lengthens': { ...id, ['~'.repeat(LONG)]: 1 },
      'a name of control characters': { ...id, ['\u0001'.repeat(LONG / 6)]: 1 },
      'many names': invalidEntries(LONG / 20, 'name'),
      'many long names': invalidEntries(60, '\u{1d4b3}'.repeat(1_000)),
      'many names of entries': { ...id, mapping: invalidEntries(60, '~'.repeat(4_000)) },
      'many entries with long names': { ...id, properties: invalidEntries(60, '~'.repeat(4_000)) },
      'deeply nested names': `${`{"properties":${`{"${'x'.repeat(10_000)}":`.repeat(15)}"\\ud800"`}${'}'.repeat(16)}`,
    });

    it('are short, however long and numerous the names are', async () => {
      for (const [what, body] of wholeBodies) {
        const response = await service.get(body);
        assert.equal(response.status, 400, what);
        assertProblem(response, response.json.code);
        assert.ok(response.text.length < 100_000, `${what}: ${response.text.length}`);
      }
    });

    it('mark a truncated name', async () => {
      const { detail, errors } = (await service.get({ ...id, ['x'.repeat(SHOWN + 1)]: 1 })).json;
      const pointer = `/${'x'.repeat(SHOWN)}… (cut off)`;
      assert.equal(errors[0].pointer, pointer);
      assert.equal(detail, `${pointer.slice(1)} ${errors[0].detail}.`);
      const query = await service.call('GET', `/v1/user-groups?${'x'.repeat(SHOWN + 1)}=1`);
      assert.ok(query.json.detail.startsWith(`"${'x'.repeat(SHOWN)}… (cut off)" is not a parameter`));
    });

    it('have the number of errors that they do not list', async () => {
      const { detail, errors } = (await service.get({ ...id, ...invalidEntries(23, 'name') })).json;
      assert.equal(errors.length, 20);
      assert.match(detail, /; 19name is not a known field [^;]+; and 3 more\.$/);
      const all = (await service.get({ ...id, ...invalidEntries(20, 'name') })).json;
      assert.doesNotMatch(all.detail, /more\.$/);
    });

    it('do not truncate a name of valid length, and do not split characters', async () => {
      for (const name of ['\u{1d4b3}'.repeat(255), '~/'.repeat(127), 'k'.repeat(SHOWN)]) {
        const escaped = name.replaceAll('~', '~0').replaceAll('/', '~1');
        const { errors } = (await service.get({ ...id, mapping: { [name]: true } })).json;
        assert.equal(errors[0].pointer, `/mapping/${escaped}`);
      }
      const { errors } = (await service.get({ ...id, [`a${'\u{1d4b3}'.repeat(SHOWN)}`]: 1 })).json;
      assert.equal(errors[0].pointer, `/a${'\u{1d4b3}'.repeat(SHOWN - 1)}… (cut off)`);
    });

    it('contain no part of a token at the point of truncation', async () => {
      for (let shown = 1; shown < 40; shown++) {
        const name = `${'x'.repeat(SHOWN - shown - 1)} ${service.token}`;
        const { text } = await service.get({ ...id, [name]: 1 });
        assert.equal(text.includes(service.token.slice(0, 6)), false);
      }
    });
  });

  describe('for a method that a path does not support', () => {
    const creating = { user_group_id: 'by another method', name: 'Never' };

    for (const method of METHODS.filter((each) => !['GET', 'PUT', 'POST', 'CONNECT'].includes(each))) {
      it(`are 405 with Allow, and nothing changes: ${method}`, async () => {
        for (const path of ['/api/user', '/api/user/']) {
          const response = await service.call(method, path, creating, { headers: { connection: 'close' } });
          assert.equal(response.headers.allow, 'GET, PUT, POST');
          if (method === 'HEAD') {
            assert.deepEqual([response.status, response.text], [405, '']);
            assert.ok(response.headers['x-request-id']);
          } else {
            assertProblem(response, 'method_not_allowed');
          }
        }
        assert.equal((await service.get({ user_group_id: creating.user_group_id })).status, 404);
      });
    }

    it('are also 405 for CONNECT, which has no path', async () => {
      const response = await exchangeOne(
        service,
        'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
      );
      assertProblem(response, 'method_not_allowed');
      assert.equal(response.headers.allow, 'GET, PUT, POST');
    });

    it('are 405 for every form of the path', async () => {
      const { host } = new URL(service.url);
      for (const path of ['/api/user?x=1', `http://${host}/api/user`, '/api/%75ser']) {
        const response = await exchangeOne(
          service,
          `DELETE ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        );
        assertProblem(response, 'method_not_allowed');
        assert.equal(response.headers.allow, 'GET, PUT, POST');
      }
    });

    it('list the supported methods in Allow', async () => {
      const response = await service.call('DELETE', '/v1/resolve');
      assertProblem(response, 'method_not_allowed');
      assert.equal(response.headers.allow, 'POST');
    });

    it('are those of the group path if its id is empty', async () => {
      const response = await service.call('POST', '/v1/user-groups/', { user_group_id: 'a', name: 'A' });
      assertProblem(response, 'method_not_allowed');
      assert.equal(response.headers.allow, 'GET, PUT, PATCH, DELETE');
      const { detail } = response.json;
      assert.equal(detail, 'This path, which ends with a slash, supports GET, PUT, PATCH, DELETE.');
      assertProblem(await service.call('PUT', '/v1/user-groups/', { name: 'A' }), 'invalid_request');
      for (const method of ['GET', 'DELETE']) {
        assertProblem(await service.call(method, '/v1/user-groups/'), 'invalid_request');
      }
    });
  });

  it('are 404 on every unknown path', async () => {
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

  it('refer to the documentation on an unknown path, and explain percent-encoding', async () => {
    for (const path of ['/', '/v1/user-groups/a/b']) {
      const { json } = await service.call('GET', path);
      assert.match(json.detail, /\/docs\b.*lower case, without a slash at the end.*Percent-encode/);
    }
  });

  describe('for a request with every error', () => {
    it('are sent one at a time, in the documented order', async () => {
      const spent = (await limited.apiToken()).token;
      await limited.resolve('unknown', { token: spent });
      const path = '/v1/user-groups/%20';
      const faults: [fault: TestRequest, code: ProblemCode, detail: RegExp][] = [
        [
          { headers: { authorization: ['Token a', 'Token b'] } },
          'invalid_request',
          /Duplicate header authorization/,
        ],
        [{ headers: { origin: 'https://elsewhere.example' } }, 'origin_not_allowed', /browsers/],
        [{ path: '/v1/nothing' }, 'not_found', /path does not exist/],
        [{ method: 'POST' }, 'method_not_allowed', /GET, PUT, PATCH, DELETE/],
        [{ token: 'unknown' }, 'unauthenticated', /valid API token/],
        [{ token: spent }, 'rate_limited', /requests per minute/],
        [
          { token: (await limited.apiToken({ permission: 'read-only' })).token },
          'permission_denied',
          /read-only/,
        ],
        [{ path: `${path}?x=1` }, 'invalid_request', /query parameters/],
        [{ headers: { 'content-type': 'text/plain' } }, 'unsupported_media_type', /Content-Type/],
        [{ body: 'x'.repeat(300_000) }, 'body_too_large', /262144 bytes/],
        [{ body: '{' }, 'invalid_json', /The body/],
        [{ headers: { 'if-match': 'x' } }, 'invalid_request', /If-Match/],
        [{ path }, 'invalid_request', /user_group_id in the path/],
        [{ path: '/v1/user-groups/missing' }, 'user_group_not_found', /No user group/],
      ];
      for (const [index, [, code, detail]] of faults.entries()) {
        const { token } = await limited.apiToken();
        const left = faults.slice(index).map(([fault]) => fault);
        const headers = Object.assign({}, ...left.map((fault) => fault.headers));
        const { method, ...request } = Object.assign(
          { method: 'PATCH', token, body: {} },
          ...left.toReversed(),
        );
        const response = await limited.call(method, request.path, request.body, { ...request, headers });
        assertProblem(response, code);
        assert.match(response.json.detail, detail);
      }
    });
  });

  describe('X-Request-Id and Cache-Control', () => {
    it('are in every response, with a unique id', async () => {
      const { token } = (await service.get({ user_group_id: 'there', name: 'There' })).json.user_group;
      const close = 'Host: a\r\nConnection: close\r\n';
      const responses = await Promise.all([
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
      for (const { headers, status } of responses) {
        assert.match(String(headers['x-request-id']), /^[\w-]{8,}$/, `the response ${status}`);
        assert.equal(headers['cache-control'], 'no-store');
      }
      assert.equal(new Set(responses.map(({ headers }) => headers['x-request-id'])).size, responses.length);
    });

    it('identify the request in the log', async () => {
      const { headers } = await service.get({ user_group_id: 'there' });
      const isOfRequest = ({ requestId }: LogEntry) => requestId === headers['x-request-id'];
      const entry = await service.logEntry('the request', isOfRequest);
      assert.deepEqual([entry.method, entry.path, entry.status], ['GET', '/api/user', 200]);
    });

    it('are in the response to an upgrade request, which is answered without an upgrade', async () => {
      const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
      const response = await service.call('GET', '/nothing', undefined, { headers: upgrade });
      assertProblem(response, 'not_found');
    });
  });
});
