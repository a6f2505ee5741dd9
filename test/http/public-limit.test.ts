// Contract: requests that no API token covers are limited per client address, and a valid token is never
// locked out.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { BlockList } from 'node:net';
import { before, describe, it } from 'node:test';
import { PublicLimit } from '../../src/http/limits/public-limit.ts';
import { RefusalDelay } from '../../src/http/limits/refusal-delay.ts';
import { networkPrefix } from '../../src/http/request/client-address.ts';
import { Problem } from '../../src/problem.ts';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import { EmbedSite, integrations } from '../support/embed-token/site.ts';
import type { TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';

const LIMIT = 4;
/** Runs tests concurrently, because refusals are delayed. Each test sends from its own addresses. */
const CONCURRENT = { concurrency: true };

describeOnEachDatabase(
  'the limit of failed authentications',
  (database) => {
    const service = TestService.of(database, {
      env: {
        UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: String(LIMIT),
        UGS_TRUSTED_PROXIES: '127.0.0.1',
      },
    });

    /** Sends a request as a trusted proxy forwards it for this address. */
    const from = (address: string, token: string): Promise<TestResponse> =>
      service.resolve('unknown', { token, headers: { 'x-forwarded-for': address } });

    async function failuresOf(address: string, token = 'invalid'): Promise<number[]> {
      const statuses: number[] = [];
      for (let call = 0; call <= LIMIT; call++) statuses.push((await from(address, token)).status);
      return statuses;
    }

    const LIMITED = [...Array<number>(LIMIT).fill(401), 429];

    it('returns 429 and Retry-After in place of 401', async () => {
      assert.deepEqual(await failuresOf('198.51.100.1'), LIMITED);
      const response = await from('198.51.100.1', 'invalid');
      assertProblem(response, 'rate_limited');
      const seconds = Number(response.headers['retry-after']);
      assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, String(seconds));
      assert.match(response.json.detail, /not valid/);
    });

    it('never rejects a valid API token, whatever else its address has sent', async () => {
      const address = '198.51.100.2';
      for (const token of ['invalid', 'other']) await failuresOf(address, token);
      const calls = Array.from({ length: 20 }, () => from(address, service.token));
      for (const { status } of await Promise.all(calls)) assert.equal(status, 404);
      assert.equal((await from(address, 'invalid')).status, 429);
    });

    it('counts revoked and expired API tokens', async () => {
      const { id, token } = await service.apiToken();
      assert.equal((await from('198.51.100.3', token)).status, 404);
      await service.revokeApiToken(id);
      assert.deepEqual(await failuresOf('198.51.100.3', token), LIMITED);
    });

    it('counts each IPv4 address and each /64 of IPv6 separately', async () => {
      await failuresOf('198.51.100.4');
      assert.equal((await from('198.51.100.5', 'invalid')).status, 401);
      await failuresOf('2001:db8:0:1::1');
      assert.equal((await from('2001:db8:0:1:ffff::2', 'invalid')).status, 429);
      assert.equal((await from('2001:db8:0:2::1', 'invalid')).status, 401);
    });

    it('does not count authenticated requests that are refused', async () => {
      const { token } = await service.apiToken({ permission: 'resolve' });
      const headers = { 'x-forwarded-for': '198.51.100.6' };
      for (let call = 0; call < 2 * LIMIT; call++) {
        assert.equal((await service.put({ user_group_id: 'x' }, { token, headers })).status, 403);
        assert.equal((await service.put('{', { headers })).status, 400);
      }
      assert.equal((await from('198.51.100.6', 'invalid')).status, 401);
    });
  },
  CONCURRENT,
);

describeOnEachDatabase(
  'The limit of public requests',
  (database) => {
    const site = EmbedSite.of(database, {
      env: {
        UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: String(LIMIT),
        UGS_TRUSTED_PROXIES: '127.0.0.1',
      },
    });
    let issuer: string;
    before(async () => {
      await site.create('jwt', integrations.jwt);
      issuer = new URL((await site.asAdmin('GET', '/v1/signing-keys')).json.issuer).pathname;
    });

    const get = (address: string, path: string, headers: Record<string, string> = {}) =>
      site.service.call('GET', path, undefined, {
        token: null,
        headers: { 'x-forwarded-for': address, ...headers },
      });

    async function statusesOf(address: string, paths: readonly string[]): Promise<number[]> {
      const statuses: number[] = [];
      for (const path of paths) statuses.push((await get(address, path)).status);
      return statuses;
    }

    const keySet = (path: string) => `${path}/.well-known/jwks.json`;
    const beyond = (path: string) => Array<string>(LIMIT + 1).fill(path);

    it('counts requests for issuers that do not exist, and never those for one that does', async () => {
      const address = '198.51.100.10';
      const unknown = keySet(issuer.replace(/\w(?=\w+$)/, (digit) => (digit === '0' ? '1' : '0')));
      assert.deepEqual(await statusesOf(address, beyond(unknown)), [...Array(LIMIT).fill(404), 429]);
      assertProblem(await get(address, keySet('/issuers/x')), 'rate_limited');
      for (const status of await statusesOf(address, [...beyond(keySet(issuer)), ...beyond(keySet(issuer))]))
        assert.equal(status, 200);
    });

    it('never applies to health checks, or to a person who has signed in', async () => {
      const address = '198.51.100.14';
      await statusesOf(address, [...beyond('/docs'), ...beyond('/nothing')]);
      for (const path of [...beyond('/healthz'), ...beyond('/readyz')])
        assert.equal((await get(address, path)).status, 200);
      const signIn = new URLSearchParams({ api_token: site.admin });
      const headers = { 'x-forwarded-for': address, 'sec-fetch-site': 'same-origin' };
      const signedIn = await site.service.call('POST', '/console/sign-in', signIn, { token: null, headers });
      assert.equal(signedIn.status, 303);
      const [cookie] = signedIn.headers['set-cookie']![0]!.split(';');
      assert.equal((await get(address, '/console/user-groups', { cookie: cookie! })).status, 200);
    });

    // The database does not change counts that need no query.
    if (database !== sqlite) return;

    it('counts unknown paths and methods with failed authentications', async () => {
      const address = '198.51.100.11';
      const statuses = await statusesOf(address, ['/nothing', '/v1/resolve', '/v1/user-groups', '/%zz', '/']);
      assert.deepEqual(statuses, [404, 405, 401, 400, 429]);
    });

    it('counts the documentation and the pages of the console before sign-in, apart from refusals', async () => {
      const address = '198.51.100.12';
      await statusesOf(address, beyond('/nothing'));
      const paths = ['/docs', '/openapi.json', '/console/sign-in', '/console/user-groups', '/errors'];
      // The list page reloads once, because a link from another site comes without the session.
      assert.deepEqual(await statusesOf(address, paths), [200, 200, 200, 200, 429]);
      const asset = /\/docs\/assets\/[^"]+/.exec((await get('198.51.100.13', '/docs')).text)![0];
      for (const path of ['/docs', '/openapi.json', '/console', '/console/sign-in', asset]) {
        const response = await get(address, path);
        assert.equal(response.status, 429, path);
        assert.ok(Number(response.headers['retry-after']) >= 1);
      }
      assert.equal((await get(address, '/', { accept: 'text/html' })).status, 429);
    });

    it('counts a large form without a session, or one with many fields, as several pages', async () => {
      const forms: [address: string, form: URLSearchParams, accepted: number][] = [
        ['198.51.100.16', new URLSearchParams({ name: 'Customer' }), LIMIT],
        ['198.51.100.17', new URLSearchParams({ name: 'x'.repeat(20_000) }), LIMIT / 2],
        ['198.51.100.18', new URLSearchParams(Array(150).fill(['a', ''])), LIMIT / 2],
        ['198.51.100.19', new URLSearchParams({ name: 'x'.repeat(100_000) }), 0],
      ];
      for (const [address, form, accepted] of forms) {
        const headers = { 'x-forwarded-for': address, 'sec-fetch-site': 'same-origin' };
        for (let sent = 0; sent <= accepted; sent++) {
          const path = '/console/user-groups/a/review';
          const { status } = await site.service.call('POST', path, form, { token: null, headers });
          assert.equal(status, sent < accepted ? 401 : 429, `${address}, form ${sent}`);
        }
      }
    });

    it('delays what it refuses, so that a caller cannot repeat it immediately', async () => {
      const address = '198.51.100.15';
      await statusesOf(address, beyond('/nothing'));
      const startedAt = performance.now();
      assert.equal((await get(address, '/nothing')).status, 429);
      assert.ok(performance.now() - startedAt >= 400);
    });
  },
  CONCURRENT,
);

describe('without trusted proxies, the limit of failed authentications', CONCURRENT, () => {
  it('ignores X-Forwarded-For, which a client could invent', async () => {
    const env = { UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: String(LIMIT) };
    await using service = await TestService.start(sqlite, { env });
    const statuses: number[] = [];
    for (let call = 0; call <= LIMIT; call++) {
      const headers = { 'x-forwarded-for': `198.51.100.${call}` };
      statuses.push((await service.resolve('unknown', { token: 'invalid', headers })).status);
    }
    assert.equal(statuses.at(-1), 429);
  });

  it('is off if it is 0', async () => {
    const env = { UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: '0' };
    await using service = await TestService.start(sqlite, { env });
    const calls = Array.from({ length: 400 }, () => service.resolve('unknown', { token: 'invalid' }));
    for (const { status } of await Promise.all(calls)) assert.equal(status, 401);
  });
});

describe('The network of an address', () => {
  it('is a /64 in IPv6, however the address is shortened', () => {
    const networks: Record<string, string> = {
      '203.0.113.9': '203.0.113.9',
      '::1': '0:0:0:0::/64',
      '::': '0:0:0:0::/64',
      '2001:db8::': '2001:db8:0:0::/64',
      '2001:db8::1': '2001:db8:0:0::/64',
      '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
      '2001:db8:1:2:3::6': '2001:db8:1:2::/64',
      '1::2:3:4:5:6': '1:0:0:2::/64',
      '': '',
    };
    for (const [address, network] of Object.entries(networks))
      assert.equal(networkPrefix(address), network, address);
  });
});

describe('A refused request', () => {
  const request = { headers: {}, socket: { remoteAddress: '203.0.113.9' } } as IncomingMessage;

  it('does not count if the service failed, or if it exceeds a limit already', () => {
    const limit = new PublicLimit(1, new BlockList(), PublicLimit.allocate(1)!);
    for (const code of ['overloaded', 'internal_error', 'rate_limited'] as const) {
      const problem = new Problem(code, 'Later.');
      assert.equal(limit.refuse(request, problem), problem);
    }
    const unknown = new Problem('not_found', 'Nothing is here.');
    assert.equal(limit.refuse(request, unknown), unknown);
    assert.equal(limit.refuse(request, unknown).code, 'rate_limited');
  });

  it('is delayed with at most 1,023 others', ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const delay = new RefusalDelay();
    let sent = 0;
    const refuse = (count: number) => {
      for (let index = 0; index < count; index++) delay.run(() => sent++);
      return sent;
    };
    assert.equal(refuse(1_024), 0);
    assert.equal(refuse(2), 2);
    mock.timers.tick(1_000);
    assert.equal(sent, 1_026);
    assert.equal(refuse(1_024), 1_026);
  });

  it('is delayed with at most 255 others in each of four threads', ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const delay = new RefusalDelay(4);
    let sent = 0;
    for (let index = 0; index < 257; index++) delay.run(() => sent++);
    assert.equal(sent, 1);
  });
});
