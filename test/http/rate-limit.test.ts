// Contract: requests of an API token beyond the rate limit are rejected with 429 and Retry-After.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConsoleBrowser } from '../support/console.ts';
import { sqlite } from '../support/database.ts';
import { send } from '../support/http.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const LIMIT = 5;
const HOUR_MS = 3_600_000;

// Requests are counted in memory.
describe('the rate limit', () => {
  const service = TestService.of(sqlite, { env: { UGS_RATE_LIMIT_PER_MINUTE: String(LIMIT) } });

  /** Makes sequential calls of different kinds, and returns their statuses. */
  async function statuses(token: string, calls: number): Promise<number[]> {
    const found: number[] = [];
    for (let call = 0; call < calls; call++) {
      const id = `group-${call}`;
      const response = await (call % 2 === 0
        ? service.get({ user_group_id: id, name: 'G' }, { token })
        : service.resolve('unknown', { token }));
      found.push(response.status);
    }
    return found;
  }

  it('rejects requests beyond the limit with 429 and Retry-After', async () => {
    const { token } = await service.apiToken();
    assert.deepEqual(await statuses(token, LIMIT), [200, 404, 200, 404, 200]);
    const response = await service.get({ user_group_id: 'too-many', name: 'T' }, { token });
    assert.deepEqual([response.status, response.json.code], [429, 'rate_limited']);
    const seconds = Number(response.headers['retry-after']);
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, String(seconds));
  });

  it('tells in each response, even an error, how many requests are left, and until when', async () => {
    const { token, calls } = await eventually('calls that are not repeated', async () => {
      const { token } = await service.apiToken();
      const calls: [status: number, remaining: number][] = [];
      for (const path of ['/v1/user-groups', '/v1/user-groups/none', '/v1/user-groups?limit=x']) {
        // A call that a busy service refuses counts too.
        const { status, headers } = await send(service.url, { method: 'GET', path, token });
        if (status === 503) return null;
        assert.equal(headers['ratelimit-policy'], `"api-token";q=${LIMIT};w=60`);
        const [, remaining, seconds] = /^"api-token";r=(\d+);t=(\d+)$/.exec(String(headers.ratelimit)) ?? [];
        assert.ok(Number(seconds) >= 1 && Number(seconds) <= 60, String(seconds));
        calls.push([status, Number(remaining)]);
      }
      return { token, calls };
    });
    assert.deepEqual(calls, [
      [200, LIMIT - 1],
      [404, LIMIT - 2],
      [400, LIMIT - 3],
    ]);
    await statuses(token, LIMIT);
    const { status, headers } = await service.resolve('unknown', { token });
    assert.equal(status, 429);
    assert.equal(headers.ratelimit, `"api-token";r=0;t=${headers['retry-after']}`);
  });

  it('counts the pages of the console too', async () => {
    const { token } = await service.apiToken();
    const browser = await ConsoleBrowser.signIn(service, token);
    await statuses(token, LIMIT);
    assert.equal((await browser.get('/console/user-groups')).status, 429);
  });

  it('tells nothing to requests without a valid API token', async () => {
    const responses = [
      await service.resolve('unknown', { token: 'invalid' }),
      await service.call('GET', '/healthz'),
    ];
    for (const { headers } of responses)
      assert.deepEqual([headers.ratelimit, headers['ratelimit-policy']], [undefined, undefined]);
  });

  it('sets Retry-After to at most one minute, even if the clock is set back', async (t) => {
    const { token } = await service.apiToken();
    await statuses(token, LIMIT);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - HOUR_MS });
    const response = await service.resolve('unknown', { token });
    assert.deepEqual([response.status, response.headers['retry-after']], [429, '60']);
  });

  it('does not execute rejected requests', async () => {
    const { token } = await service.apiToken({ workspaceName: 'refused' });
    await statuses(token, LIMIT);
    await service.get({ user_group_id: 'refused', name: 'R' }, { token });
    const { token: other } = await service.apiToken({ workspaceName: 'refused' });
    assert.equal((await service.get({ user_group_id: 'refused' }, { token: other })).status, 404);
  });

  it('counts requests without permission, and also rejects them with 429', async () => {
    const { token } = await service.apiToken({ permission: 'resolve' });
    const forbidden = () => service.put({ user_group_id: 'group-0', name: 'G' }, { token });
    for (let call = 0; call < LIMIT; call++) assert.equal((await forbidden()).status, 403);
    const response = await forbidden();
    assert.deepEqual([response.status, response.json.code], [429, 'rate_limited']);
    assert.equal((await service.resolve('unknown', { token })).status, 429);
  });

  it('returns 429 before validating the query or the body', async () => {
    const { token } = await service.apiToken();
    await statuses(token, LIMIT);
    assert.equal((await service.put('{', { token })).status, 429);
    assert.equal((await service.call('GET', '/v1/user-groups?limit=0', undefined, { token })).status, 429);
  });

  it('counts each API token separately', async () => {
    const first = (await service.apiToken()).token;
    const second = (await service.apiToken()).token;
    await statuses(first, LIMIT + 1);
    assert.equal((await statuses(second, 1))[0], 200);
    assert.equal((await statuses(first, 1))[0], 429);
  });

  it('accepts exactly the limit of parallel requests', async () => {
    const { token } = await service.apiToken();
    const calls = Array.from({ length: 40 }, () =>
      service.get({ user_group_id: 'group-0', name: 'G' }, { token }),
    );
    const responses = await Promise.all(calls);
    assert.equal(responses.filter(({ status }) => status === 200).length, LIMIT);
    assert.equal(responses.filter(({ status }) => status === 429).length, 40 - LIMIT);
  });

  it('does not count unauthenticated requests', async () => {
    const { token } = await service.apiToken();
    for (let call = 0; call < 2 * LIMIT; call++) {
      assert.equal((await service.get({}, { token: `${token.slice(0, -1)}~` })).status, 401);
    }
    assert.equal((await statuses(token, 1))[0], 200);
  });
});

describe('without a rate limit', () => {
  it('an API token may make any number of requests', async () => {
    await using service = await TestService.start(sqlite);
    const responses = await Promise.all(Array.from({ length: 300 }, () => service.resolve('unknown')));
    assert.ok(responses.every(({ status }) => status === 404));
    assert.ok(responses.every(({ headers }) => headers.ratelimit === undefined));
  });
});
