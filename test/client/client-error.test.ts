// The client: a single error class, distinguished by code, with the details of the service and without
// secrets.

import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { type ClientOptions, UserGroupClient, UserGroupServiceError } from '../../client/src/index.ts';
import { FaultyProxy } from '../support/client/faulty-proxy.ts';
import { sqlite } from '../support/database.ts';
import { type LogEntry, TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

async function errorOf(call: Promise<unknown>): Promise<UserGroupServiceError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof UserGroupServiceError, String(error));
  return error;
}

describe('The error of the client', () => {
  const stack = suiteStack();
  let service: TestService;
  let proxy: FaultyProxy;
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    proxy = stack.use(await FaultyProxy.start(service.url));
  });
  afterEach(() => {
    proxy.faults = [];
  });

  function clientWith(options: Partial<ClientOptions> = {}): UserGroupClient {
    return new UserGroupClient({ url: proxy.url, apiToken: service.token, maxRetries: 0, ...options });
  }

  it('contains the details of the response', async () => {
    const group = { user_group_id: ' x', name: '', properties: {} };
    const error = await errorOf(clientWith().getOrCreate(group));
    assert.equal(error.name, 'UserGroupServiceError');
    assert.equal(error.code, 'invalid_request');
    assert.equal(error.status, 400);
    assert.ok(error.message.length > 0);
    const pointers = new Set(error.errors.map(({ pointer }) => pointer));
    assert.deepEqual([...pointers].sort(), ['/name', '/user_group_id']);
    assert.equal(error.retryAfterSeconds, null);
    const isRefused = ({ requestId }: LogEntry) => requestId === error.requestId;
    assert.equal((await service.logEntry('the refused request', isRefused)).status, 400);
  });

  it('is not thrown for a success whose header a proxy has truncated', async () => {
    const headers = { 'user-group-violations': '/mapping/a%20b, /mapping/%E2%82' };
    proxy.faults = [{ status: 200, headers, body: '{"success":1,"user_group":{}}' }];
    const { violations } = await clientWith().update({ user_group_id: 'x', mapping: {} });
    assert.deepEqual(violations, ['/mapping/a b', '/mapping/%E2%82']);
  });

  it('distinguishes an invalid API token from insufficient permission', async () => {
    const { token: apiToken } = await service.apiToken({ permission: 'resolve' });
    const group = { user_group_id: 'x', name: 'X' };
    assert.equal((await errorOf(clientWith({ apiToken: 'uga_x' }).getOrCreate(group))).status, 401);
    assert.equal((await errorOf(clientWith({ apiToken }).getOrCreate(group))).code, 'permission_denied');
  });

  it('reports why the service is unreachable', async () => {
    const stopped = await FaultyProxy.start(service.url);
    const { url } = stopped;
    await stopped[Symbol.asyncDispose]();
    const error = await errorOf(clientWith({ url }).resolve('any'));
    assert.deepEqual([error.code, error.status, error.requestId], ['network_error', null, null]);
    assert.match(error.message, /ECONNREFUSED/);
  });

  it('reports the reason if fetch has another class Error than the client, as in Jest', async () => {
    const rejects: ClientOptions['fetch'] = () =>
      runInNewContext(`Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }))`);
    const error = await errorOf(clientWith({ fetch: rejects }).resolve('any'));
    assert.equal(error.message, 'No response from the service: fetch failed: ECONNREFUSED');
  });

  it('is unexpected_answer if the response is not from the service', async () => {
    const responses = [
      { status: 200, body: '<html>hello</html>' },
      { status: 200, body: '{"hello":"world"}' },
      { status: 200, body: '"hello"' },
      { status: 200, body: '{"success":true,"data":{}}' },
      { status: 200, body: '{"success":0}' },
      { status: 200 },
      { status: 204 },
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      { status: 413, body: '<html>' },
      { status: 400, body: '{"code":"of_tomorrow","detail":"New."}' },
    ];
    for (const response of responses) {
      proxy.faults = [response];
      const error = await errorOf(clientWith().resolve('any'));
      assert.deepEqual([error.code, error.status], ['unexpected_answer', response.status]);
      assert.match(error.message, new RegExp(`${response.status}`));
    }
  });

  it('has the detail of an error whose code is newer than the client', async () => {
    proxy.faults = [
      { status: 409, body: '{"success":0,"code":"of_tomorrow","detail":"Wait until tomorrow."}' },
    ];
    const error = await errorOf(clientWith().resolve('any'));
    assert.deepEqual([error.code, error.status], ['unexpected_answer', 409]);
    assert.match(error.message, /^Wait until tomorrow\. .*409.*of_tomorrow/);
  });

  it('has the seconds of Retry-After, also if they are fractional, negative or repeated', async () => {
    const expected = [
      ['2', 2],
      ['1.5', 1.5],
      ['-1', 0],
      ['3, 3', 3],
      ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
      ['soon', null],
      ['', null],
    ] as const;
    for (const [retryAfter, seconds] of expected) {
      proxy.faults = [{ status: 503, headers: { 'retry-after': retryAfter } }];
      assert.equal((await errorOf(clientWith().resolve('any'))).retryAfterSeconds, seconds, retryAfter);
    }
  });

  it('has the seconds until the date in Retry-After by the clock of the proxy that sent it', async () => {
    const headers = {
      date: 'Thu, 01 Jan 2015 00:00:00 GMT',
      'retry-after': 'Thu, 01 Jan 2015 00:00:07 GMT',
    };
    proxy.faults = [{ status: 503, headers }];
    assert.equal((await errorOf(clientWith().resolve('any'))).retryAfterSeconds, 7);
  });

  it('reports redirects, which are not followed so that the API token goes to no other host', async () => {
    const seen = proxy.seen.length;
    proxy.faults = [{ status: 307, headers: { location: '/v1/resolve' } }];
    assert.equal((await errorOf(clientWith().resolve('any'))).status, 307);
    assert.equal(proxy.seen.length, seen + 1);
  });

  it('never contains the API token, even if the error of a custom fetch does', async () => {
    const leaking: ClientOptions['fetch'] = (url, request) => {
      const cause = Object.assign(new Error(`sent ${JSON.stringify(request.headers)}`), { request });
      throw Object.assign(new TypeError(`fetch of ${url} failed`, { cause }), { request });
    };
    for (const apiToken of [service.token, `${service.token}x`, 'of.another.kind']) {
      for (const options of [{ fetch: leaking }, { url: 'http://127.0.0.1:1' }, {}]) {
        const error = await errorOf(clientWith({ apiToken, ...options }).resolve('any'));
        const texts = [
          `${error.stack}`,
          JSON.stringify(error),
          inspect(error, { depth: 9, showHidden: true }),
        ];
        for (const text of texts) assert.ok(!text.includes(apiToken), text);
      }
    }
  });

  it('never contains the API token, even if the response does', async () => {
    const echo = `you sent Token ${service.token}`;
    const errors = [{ pointer: '/', detail: echo }];
    for (const code of ['invalid_request', 'newer_than_the_client']) {
      const body = JSON.stringify({ success: 0, code, detail: echo, errors });
      proxy.faults = [{ status: 400, body }];
      const error = await errorOf(clientWith().resolve('any'));
      assert.match(error.message, /^you sent Token \[redacted\]/);
      assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(service.token));
    }
  });

  it('never contains a user group token', async () => {
    const { user_group } = await clientWith().getOrCreate({ user_group_id: 'secret', name: 'S' });
    const leaking: ClientOptions['fetch'] = (_url, request) => {
      throw new TypeError(`could not send ${request.body}`);
    };
    const error = await errorOf(clientWith({ fetch: leaking }).rotate({ current_token: user_group.token }));
    assert.equal(inspect(error).includes(user_group.token), false);
  });
});

describe('The client itself', () => {
  const apiToken = 'uga_of-this-client';
  const client = new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken });

  it('never reveals its API token', () => {
    const texts = [String(client), JSON.stringify(client), inspect(client, { depth: 9, showHidden: true })];
    for (const text of texts) assert.ok(!text.includes(apiToken), text);
  });

  it('sends the API token only in the Authorization header', async () => {
    const sent: { url: string; request: object }[] = [];
    const recording: ClientOptions['fetch'] = async (url, { signal: _, ...request }) => {
      sent.push({ url, request: structuredClone(request) });
      return new Response('{"success":1,"user_groups":[],"next_cursor":null}');
    };
    const recorded = new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken, fetch: recording });
    await recorded.getOrCreate({ user_group_id: 'x' });
    await recorded.read('x');
    await recorded.listPage({ search: 'x' });
    await recorded.delete('x');
    for (const { url, request } of sent) {
      const [, ...more] = JSON.stringify({ url, request }).split(apiToken);
      assert.equal(more.length, 1);
      assert.equal(
        (request as { headers: Record<string, string> }).headers.authorization,
        `Token ${apiToken}`,
      );
    }
  });

  it('rejects invalid limits, in the constructor and in a call', async () => {
    const invalid: Partial<ClientOptions>[] = [
      ...[0, -1, Number.NaN, '5' as never].map((timeoutMs) => ({ timeoutMs })),
      ...[-1, Number.NaN, '5' as never].map((maxRetries) => ({ maxRetries })),
    ];
    for (const limit of invalid) {
      const expected = { name: 'TypeError', message: new RegExp(Object.keys(limit)[0]!) };
      assert.throws(() => new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken, ...limit }), expected);
      await assert.rejects(client.read('x', limit), expected);
    }
    for (const attemptTimeoutMs of [0, -1, Number.NaN]) {
      const construct = () => new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken, attemptTimeoutMs });
      assert.throws(construct, { name: 'TypeError', message: /attemptTimeoutMs/ });
    }
  });

  it('rejects arguments that cannot be transmitted unchanged, and sends no request', async () => {
    const sent: string[] = [];
    const recording: ClientOptions['fetch'] = async (url) => {
      sent.push(url);
      return new Response('{"success":1,"user_groups":[],"next_cursor":null}');
    };
    const recorded = new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken, fetch: recording });
    const calls = [
      ...['a\ud800', undefined, null, 7].map((id) => () => recorded.delete(id as string)),
      ...['"€"', '"1-1"\n', null].map(
        (ifMatch) => () => recorded.delete('x', { ifMatch: ifMatch as string }),
      ),
      () => recorded.getOrCreate({ user_group_id: 'x' }, { ifNoneMatch: '\n' as '*' }),
      () => recorded.listPage({ search: 'a\udfff' }),
    ];
    for (const call of calls) await assert.rejects(call, TypeError);
    assert.deepEqual(sent, []);
  });

  it('rejects an API token that is not a valid header value, without revealing it', () => {
    for (const invalid of ['', ' ', 'two words', 'line\n', '\u0000', 'é']) {
      const construct = () => new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken: invalid });
      assert.throws(construct, (error: Error) => {
        assert.ok(error instanceof TypeError);
        return invalid.trim() === '' || !error.message.includes(invalid);
      });
    }
  });

  it('reports that the API token or the URL is not set, such as from a missing environment variable', () => {
    for (const unset of [undefined, null as unknown as undefined, '', ' ']) {
      const withoutToken = () => new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken: unset });
      assert.throws(withoutToken, {
        name: 'TypeError',
        message: /^apiToken is not set.*environment variable/,
      });
      const withoutUrl = () => new UserGroupClient({ url: unset, apiToken });
      assert.throws(withoutUrl, { name: 'TypeError', message: /^url is not set.*environment variable/ });
    }
  });

  it('reports what to remove from an API token that includes the scheme of the header or whitespace', () => {
    const messages = {
      [`Token ${apiToken}`]: /^apiToken starts with "Token ".*pass the token alone/,
      [`token\t${apiToken}`]: /^apiToken starts with "Token "/,
      'Token ': /^apiToken starts with "Token "/,
      [`Bearer ${apiToken}`]: /^apiToken starts with "Bearer ".*pass the token alone/,
      [`Authorization: Token ${apiToken}`]: /^apiToken starts with "Authorization:".*pass the token alone/,
      [`${apiToken}\n`]: /^apiToken starts or ends with whitespace: trim it/,
      [`"${apiToken}"`]: /^apiToken is in quotation marks/,
    };
    for (const [text, message] of Object.entries(messages)) {
      const construct = () => new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken: text });
      assert.throws(construct, (error: Error) => {
        assert.match(error.message, message);
        return error instanceof TypeError && !error.message.includes(apiToken);
      });
    }
  });

  it('rejects an invalid URL, without revealing a password', () => {
    const invalid = [
      '',
      'example.com',
      'ftp://example.com',
      'http://a:secret@b',
      'http://a:secret@b:port',
      'http://b?c',
      'http://b#c',
    ];
    for (const url of invalid) {
      const construct = () => new UserGroupClient({ url, apiToken });
      assert.throws(construct, (error) => error instanceof TypeError && !inspect(error).includes('secret@'));
    }
  });
});
