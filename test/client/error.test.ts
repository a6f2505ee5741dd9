// The client: one error, told apart by its code, that holds what the service said and never a secret.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { serviceCodes } from '../../client/src/error.ts';
import { type ClientOptions, UserGroupClient, UserGroupServiceError } from '../../client/src/index.ts';
import { problems } from '../../src/problem.ts';
import { sqlite } from '../database.ts';
import { TestService } from '../service.ts';
import { FaultyProxy } from './faulty-proxy.ts';

async function errorOf(call: Promise<unknown>): Promise<UserGroupServiceError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof UserGroupServiceError, String(error));
  return error;
}

describe('The error of the client', () => {
  let service: TestService;
  let proxy: FaultyProxy;
  before(async () => {
    service = await TestService.start(sqlite);
    proxy = await FaultyProxy.start(service.url);
  });
  afterEach(() => {
    proxy.faults = [];
  });
  after(async () => {
    await proxy[Symbol.asyncDispose]();
    await service.end();
  });

  function clientWith(options: Partial<ClientOptions> = {}): UserGroupClient {
    return new UserGroupClient({ url: proxy.url, apiToken: service.token, maxRetries: 0, ...options });
  }

  it('knows every code of the service, and no other', () => {
    assert.deepEqual([...serviceCodes].sort(), Object.keys(problems).sort());
  });

  it('holds what the service says', async () => {
    const group = { user_group_id: ' x', name: '', properties: {} };
    const error = await errorOf(clientWith().getOrCreate(group));
    assert.equal(error.name, 'UserGroupServiceError');
    assert.equal(error.code, 'invalid_request');
    assert.equal(error.status, 400);
    assert.ok(error.message.length > 0);
    const pointers = new Set(error.errors.map(({ pointer }) => pointer));
    assert.deepEqual([...pointers].sort(), ['/name', '/user_group_id']);
    assert.equal(error.retryAfterSeconds, null);
    const line = service.logLines.findLast((text) => text.includes('"/v1/user-groups"'));
    assert.ok(line?.includes(`"${error.requestId}"`));
  });

  it('tells an API token that is not good from one that may not', async () => {
    const { token: apiToken } = await service.apiToken({ permission: 'resolve' });
    const group = { user_group_id: 'x', name: 'X' };
    assert.equal((await errorOf(clientWith({ apiToken: 'uga_x' }).getOrCreate(group))).status, 401);
    assert.equal((await errorOf(clientWith({ apiToken }).getOrCreate(group))).code, 'permission_denied');
  });

  it('says why the service cannot be reached', async () => {
    const gone = await FaultyProxy.start(service.url);
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    const error = await errorOf(clientWith({ url }).resolve('any'));
    assert.deepEqual([error.code, error.status, error.requestId], ['network_error', null, null]);
    assert.match(error.message, /ECONNREFUSED/);
  });

  it('is unexpected_answer where something else than the service answers', async () => {
    const answers = [
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
    for (const answer of answers) {
      proxy.faults = [answer];
      const error = await errorOf(clientWith().resolve('any'));
      assert.deepEqual([error.code, error.status], ['unexpected_answer', answer.status]);
      assert.match(error.message, new RegExp(`${answer.status}`));
    }
  });

  it('follows no redirect: the API token goes nowhere else', async () => {
    const seen = proxy.seen.length;
    proxy.faults = [{ status: 307, headers: { location: '/v1/resolve' } }];
    assert.equal((await errorOf(clientWith().resolve('any'))).status, 307);
    assert.equal(proxy.seen.length, seen + 1);
  });

  it('never shows the API token, whatever a replaced fetch puts into its own error', async () => {
    const telling: ClientOptions['fetch'] = (url, request) => {
      const cause = Object.assign(new Error(`sent ${JSON.stringify(request.headers)}`), { request });
      throw Object.assign(new TypeError(`fetch of ${url} failed`, { cause }), { request });
    };
    for (const apiToken of [service.token, `${service.token}x`, 'of.another.kind']) {
      for (const options of [{ fetch: telling }, { url: 'http://127.0.0.1:1' }, {}]) {
        const error = await errorOf(clientWith({ apiToken, ...options }).resolve('any'));
        const shown = [
          `${error.stack}`,
          JSON.stringify(error),
          inspect(error, { depth: 9, showHidden: true }),
        ];
        for (const text of shown) assert.ok(!text.includes(apiToken), text);
      }
    }
  });

  it('never shows a user group token', async () => {
    const { user_group } = await clientWith().getOrCreate({ user_group_id: 'secret', name: 'S' });
    const telling: ClientOptions['fetch'] = (_url, request) => {
      throw new TypeError(`could not send ${request.body}`);
    };
    const error = await errorOf(clientWith({ fetch: telling }).rotate({ current_token: user_group.token }));
    assert.equal(inspect(error).includes(user_group.token), false);
  });
});

describe('The client itself', () => {
  const apiToken = 'uga_of-this-client';
  const client = new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken });

  it('never shows its API token', () => {
    const shown = [String(client), JSON.stringify(client), inspect(client, { depth: 9, showHidden: true })];
    for (const text of shown) assert.ok(!text.includes(apiToken), text);
  });

  it('puts the API token into the Authorization header and nowhere else', async () => {
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

  it('refuses limits that cannot be meant, when it is made and at a call', async () => {
    const wrong: Partial<ClientOptions>[] = [
      ...[0, -1, Number.NaN, '5' as never].map((timeoutMs) => ({ timeoutMs })),
      ...[-1, Number.NaN, '5' as never].map((maxRetries) => ({ maxRetries })),
    ];
    for (const limit of wrong) {
      const refusal = { name: 'TypeError', message: new RegExp(Object.keys(limit)[0]!) };
      assert.throws(() => new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken, ...limit }), refusal);
      await assert.rejects(client.read('x', limit), refusal);
    }
    for (const attemptTimeoutMs of [0, -1, Number.NaN]) {
      const make = () => new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken, attemptTimeoutMs });
      assert.throws(make, { name: 'TypeError', message: /attemptTimeoutMs/ });
    }
  });

  it('refuses what would arrive as something else, and sends nothing', async () => {
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
      () => recorded.listPage({ search: 'a\udfff' }),
    ];
    for (const call of calls) await assert.rejects(call, TypeError);
    assert.deepEqual(sent, []);
  });

  it('refuses an API token that no header can carry, without showing it', () => {
    for (const wrong of ['', ' ', 'two words', 'line\n', '\u0000', 'é']) {
      const make = (): UserGroupClient => new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken: wrong });
      assert.throws(make, (error: Error) => {
        assert.ok(error instanceof TypeError);
        return wrong.trim() === '' || !error.message.includes(wrong);
      });
    }
  });

  it('refuses an API token that is missing, as where a variable of the environment is not set', () => {
    const options = { url: 'http://127.0.0.1:1', apiToken: undefined as unknown as string };
    assert.throws(() => new UserGroupClient(options), { name: 'TypeError', message: /apiToken/ });
  });

  it('refuses a URL that cannot be the service’s, without showing a password', () => {
    const wrong = [
      '',
      'example.com',
      'ftp://example.com',
      'http://a:secret@b',
      'http://a:secret@b:port',
      'http://b?c',
      'http://b#c',
    ];
    for (const url of wrong) {
      const make = (): UserGroupClient => new UserGroupClient({ url, apiToken });
      assert.throws(make, (error) => error instanceof TypeError && !inspect(error).includes('secret@'));
    }
  });
});
