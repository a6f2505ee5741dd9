// Contract: an API token authenticates a call, and nothing else does.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { digestOf, mintApiToken } from '../src/domain/token.ts';
import { describeOnEachDatabase, postgres, sqlite } from './database.ts';
import type { TestAnswer, TestRequest } from './http.ts';
import { exchangeOne } from './raw-connection.ts';
import { TestService } from './service.ts';

const ORIGIN = 'https://dashboards.example.com';
const MINUTE_MS = 60_000;

describeOnEachDatabase('authentication', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database, { env: { UGS_ALLOWED_ORIGINS: ORIGIN } });
    await service.get({ user_group_id: 'there', name: 'There' });
  });
  after(() => service.end());
  afterEach(() => {
    service.clockAheadMs = 0;
  });

  /** A call with this Authorization header, or with none. */
  function callWith(authorization?: string): Promise<TestAnswer> {
    return service.get({ user_group_id: 'there' }, { token: null, headers: { authorization } });
  }

  const status = async (token: string) => (await callWith(`Token ${token}`)).status;

  it('takes "Token <API_TOKEN>", and the scheme in any case', async () => {
    for (const scheme of ['Token', 'token', 'TOKEN', 'tOkEn']) {
      assert.equal((await callWith(`${scheme} ${service.token}`)).status, 200, scheme);
    }
  });

  describe('without a valid API token', () => {
    async function refusals(): Promise<Record<string, TestAnswer>> {
      const { token } = service;
      const expired = await service.apiToken({ expiresAt: Date.now() - 1 });
      const revoked = await service.apiToken();
      await service.revokeApiToken(revoked.id);
      const userGroup = (await service.get({ user_group_id: 'there' })).json.user_group;
      return {
        missing: await callWith(),
        'an empty header': await callWith(''),
        'no token': await callWith('Token'),
        'another scheme': await callWith(`Bearer ${token}`),
        'basic credentials': await callWith(`Basic ${Buffer.from(`${token}:`).toString('base64')}`),
        'no scheme': await callWith(token),
        'no space': await callWith(`Token${token}`),
        'a colon': await callWith(`Token: ${token}`),
        quotes: await callWith(`Token "${token}"`),
        'two tokens': await callWith(`Token ${token} ${token}`),
        'two tokens and a comma': await callWith(`Token ${token}, Token ${token}`),
        junk: await callWith('Token junk'),
        'one digit less': await callWith(`Token ${token.slice(0, -1)}`),
        'another case': await callWith(`Token ${token.toUpperCase()}`),
        'a mistyped digit': await callWith(
          `Token ${token.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))}`,
        ),
        unknown: await callWith(`Token ${mintApiToken().reveal()}`),
        'the digest of one': await callWith(`Token ${digestOf(token)}`),
        expired: await callWith(`Token ${expired.token}`),
        revoked: await callWith(`Token ${revoked.token}`),
        'a user group token': await callWith(`Token ${userGroup.token}`),
      };
    }

    it('gives one and the same 401, whatever is wrong', async () => {
      const texts = new Set<string>();
      for (const [reason, answer] of Object.entries(await refusals())) {
        assert.deepEqual([answer.status, answer.json.code], [401, 'unauthenticated'], reason);
        assert.equal(answer.headers['www-authenticate'], 'Token realm="user-group-service"', reason);
        texts.add(JSON.stringify({ ...answer.json, request_id: '' }));
      }
      assert.equal(texts.size, 1);
    });

    it('gives it on every call, before it looks at the body, and does nothing', async () => {
      const calls: [string, string][] = [
        ['GET', '/api/user'],
        ['PUT', '/api/user'],
        ['POST', '/api/user'],
        ['POST', '/v1/user-groups'],
        ['POST', '/v1/resolve'],
      ];
      for (const [method, path] of calls) {
        for (const body of [undefined, 'no JSON', { user_group_id: 'by nobody', name: 'Nobody' }]) {
          const answer = await service.call(method, path, body, { token: null });
          assert.deepEqual([answer.status, answer.json.code], [401, 'unauthenticated'], `${method} ${path}`);
        }
      }
      assert.equal((await service.get({ user_group_id: 'by nobody' })).status, 404);
    });
  });

  it('takes an API token until the instant at which it expires', async () => {
    const expiresAt = Date.now() + 10 * MINUTE_MS;
    const { token } = await service.apiToken({ expiresAt });
    service.clockAheadMs = 9 * MINUTE_MS;
    assert.equal(await status(token), 200);
    service.clockAheadMs = expiresAt - Date.now();
    assert.equal(await status(token), 401);
  });

  it('refuses a revoked API token from the next request on, and takes the others', async () => {
    for (let round = 0; round < 10; round++) {
      const { id, token } = await service.apiToken();
      assert.equal(await status(token), 200);
      assert.equal(await service.revokeApiToken(id), true);
      assert.equal(await status(token), 401);
    }
    assert.equal(await status(service.token), 200);
  });

  it('refuses two Authorization headers with 400, even where both are right', async () => {
    const one = `Token ${service.token}`;
    for (const authorization of [
      [one, one],
      [one, 'Token junk'],
      ['Bearer x', one],
    ]) {
      const request: TestRequest = { token: null, headers: { authorization } };
      const answer = await service.get({ user_group_id: 'there' }, request);
      assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_request']);
      assert.match(answer.json.detail, /authorization/);
    }
  });

  describe('a request with an Origin header', () => {
    const from = (origin: string, token: string | null = service.token) =>
      service.get({ user_group_id: 'from a browser', name: 'B' }, { token, headers: { origin } });

    it('is refused with 403 where the origin is foreign, and nothing is done', async () => {
      const foreign = [
        'https://evil.example.com',
        `${ORIGIN}.evil.com`,
        `${ORIGIN}:8443`,
        ORIGIN.replace('https', 'http'),
        'null',
        'http://127.0.0.1:1',
      ];
      for (const origin of foreign) {
        const answer = await from(origin);
        assert.deepEqual([answer.status, answer.json.code], [403, 'origin_not_allowed'], origin);
        assert.equal(answer.headers['access-control-allow-origin'], undefined);
      }
      assert.equal((await service.get({ user_group_id: 'from a browser' })).status, 404);
    });

    it('is refused so on every path and before the API token is looked at', async () => {
      assert.equal((await from('https://evil.example.com', null)).status, 403);
      for (const [method, path] of [
        ['PUT', '/api/user'],
        ['POST', '/api/user'],
        ['OPTIONS', '/api/user'],
        ['POST', '/v1/user-groups'],
        ['POST', '/v1/resolve'],
        ['GET', '/nothing'],
      ] as const) {
        const answer = await service.call(
          method,
          path,
          {},
          { headers: { origin: 'https://evil.example.com' } },
        );
        assert.deepEqual([answer.status, answer.json.code], [403, 'origin_not_allowed'], `${method} ${path}`);
      }
    });

    it('is refused so where the request names no host that could be the origin', async () => {
      for (const [version, host, origin] of [
        ['1.0', '', 'http://undefined'],
        ['1.1', 'Host:\r\n', 'http://'],
      ] as const) {
        const fields = `${host}Origin: ${origin}\r\nAuthorization: Token ${service.token}\r\nConnection: close\r\n`;
        const answer = await exchangeOne(
          service,
          `GET /v1/user-groups/there HTTP/${version}\r\n${fields}\r\n`,
        );
        assert.deepEqual([answer.status, answer.json.code], [403, 'origin_not_allowed'], origin);
      }
    });

    it('is answered where the origin is configured, or the service itself', async () => {
      assert.equal((await from(ORIGIN)).status, 200);
      assert.equal((await from(service.url)).status, 200);
      assert.equal((await from(ORIGIN, null)).status, 401);
    });
  });
});

// SQLite has one serving process.
describe('two services on one database (PostgreSQL)', () => {
  it('refuse a revoked API token from the next request on', async () => {
    const first = await TestService.start(postgres);
    const second = await TestService.start(postgres, { database: first.database });
    try {
      for (let round = 0; round < 10; round++) {
        const { id, token } = await first.apiToken();
        assert.equal((await second.resolve('unknown', { token })).status, 404);
        await first.revokeApiToken(id);
        assert.equal((await second.resolve('unknown', { token })).status, 401);
      }
    } finally {
      await second.stop();
      await first.end();
    }
  });
});

// What the database holds can be read from the files of SQLite; PostgreSQL gets the same values.
describe('the database (SQLite)', () => {
  it('holds the digest of an API token and no token in clear', async () => {
    const service = await TestService.start(sqlite);
    try {
      const first = (await service.get({ user_group_id: 'there', name: 'There' })).json.user_group.token;
      const second = (await service.post({ current_token: first })).json.user_group.token;
      const folder = dirname(service.database.url.slice('sqlite:'.length));
      const bytes = readdirSync(folder)
        .map((file) => readFileSync(join(folder, file), 'latin1'))
        .join('');
      assert.ok(bytes.includes(digestOf(service.token)));
      for (const token of [service.token, first, second]) {
        assert.ok(!bytes.includes(token));
        assert.ok(!bytes.includes(token.slice(4, 40)));
      }
    } finally {
      await service.end();
    }
  });
});
