// Contract: an API token, and nothing else, authenticates a request.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, before, describe, it } from 'node:test';
import { digestToken, mintApiToken } from '../../src/domain/token.ts';
import { exchangeLate, exchangeOne } from '../support/connection/raw-connection.ts';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import { CALLS_WITH_BODY, type TestRequest, type TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

const ORIGIN = 'https://dashboards.example.com';
const OTHER_ORIGIN = 'http://localhost:3000';
const MINUTE_MS = 60_000;

/** Foreign origins that contain this one as a prefix, suffix or substring. */
function lookalikes(origin: string): string[] {
  const [scheme, host] = origin.split('//') as [string, string];
  const name = host.replace(/:.*/, '');
  return [
    `${scheme}//evil-${host}`,
    `${scheme}//evil.${host}`,
    `${scheme}//${host}.evil`,
    `${scheme}//${host}-evil`,
    `${scheme}//${host}@evil`,
    `${scheme}//evil@${host}`,
    `${scheme}//${host}/`,
    `${scheme}//evil/${host}`,
    `${scheme}//${name}.evil`,
    `evil-${origin}`,
  ];
}

describeOnEachDatabase('authentication', (database) => {
  const service = TestService.of(database, {
    env: { UGS_ALLOWED_ORIGINS: `${ORIGIN},${OTHER_ORIGIN}` },
  });
  before(async () => {
    await service.get({ user_group_id: 'there', name: 'There' });
  });
  afterEach(() => {
    service.clockAheadMs = 0;
  });

  /** Sends a request with this Authorization header, or without one. */
  function callWith(authorization?: string): Promise<TestResponse> {
    return service.get({ user_group_id: 'there' }, { token: null, headers: { authorization } });
  }

  const status = async (token: string) => (await callWith(`Token ${token}`)).status;

  it('accepts "Token <API_TOKEN>" and "Bearer <API_TOKEN>" with the scheme in any case', async () => {
    for (const scheme of ['Token', 'token', 'TOKEN', 'tOkEn', 'Bearer', 'bearer', 'BEARER']) {
      assert.equal((await callWith(`${scheme} ${service.token}`)).status, 200, scheme);
    }
  });

  describe('without a valid API token', () => {
    async function rejections(): Promise<Record<string, TestResponse>> {
      const { token } = service;
      const expired = await service.apiToken({ expiresAt: Date.now() - 1 });
      const revoked = await service.apiToken();
      await service.revokeApiToken(revoked.id);
      const userGroup = (await service.get({ user_group_id: 'there' })).json.user_group;
      return {
        missing: await callWith(),
        'an empty header': await callWith(''),
        'no token': await callWith('Token'),
        'another scheme': await callWith(`Digest ${token}`),
        'two schemes': await callWith(`Bearer Token ${token}`),
        'a user group token as Bearer': await callWith(`Bearer ${userGroup.token}`),
        'revoked, as Bearer': await callWith(`Bearer ${revoked.token}`),
        'basic credentials': await callWith(`Basic ${Buffer.from(`${token}:`).toString('base64')}`),
        'no scheme': await callWith(token),
        'no space': await callWith(`Token${token}`),
        'a colon': await callWith(`Token: ${token}`),
        quotes: await callWith(`Token "${token}"`),
        'two tokens': await callWith(`Token ${token} ${token}`),
        'two tokens and a comma': await callWith(`Token ${token}, Token ${token}`),
        junk: await callWith('Token junk'),
        'one digit missing': await callWith(`Token ${token.slice(0, -1)}`),
        'another case': await callWith(`Token ${token.toUpperCase()}`),
        'a mistyped digit': await callWith(
          `Token ${token.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))}`,
        ),
        unknown: await callWith(`Token ${mintApiToken().reveal()}`),
        'the digest of a token': await callWith(`Token ${digestToken(token)}`),
        expired: await callWith(`Token ${expired.token}`),
        revoked: await callWith(`Token ${revoked.token}`),
        'a user group token': await callWith(`Token ${userGroup.token}`),
      };
    }

    it('returns the same 401 for every cause', async () => {
      const texts = new Set<string>();
      for (const [reason, response] of Object.entries(await rejections())) {
        assert.deepEqual([response.status, response.json.code], [401, 'unauthenticated'], reason);
        assert.equal(response.headers['www-authenticate'], 'Token realm="user-group-service"', reason);
        texts.add(JSON.stringify({ ...response.json, request_id: '' }));
      }
      assert.equal(texts.size, 1);
    });

    it('returns 401 on every endpoint before reading the body, and changes nothing', async () => {
      for (const [method, path] of CALLS_WITH_BODY) {
        for (const body of [
          undefined,
          'not JSON',
          { user_group_id: 'unauthenticated', name: 'Unauthenticated' },
        ]) {
          const response = await service.call(method, path, body, { token: null });
          assert.deepEqual(
            [response.status, response.json.code],
            [401, 'unauthenticated'],
            `${method} ${path}`,
          );
        }
      }
      assert.equal((await service.get({ user_group_id: 'unauthenticated' })).status, 404);
    });
  });

  it('accepts an API token until it expires', async () => {
    const expiresAt = Date.now() + 10 * MINUTE_MS;
    const { token } = await service.apiToken({ expiresAt });
    service.clockAheadMs = 9 * MINUTE_MS;
    assert.equal(await status(token), 200);
    service.clockAheadMs = expiresAt - Date.now();
    assert.equal(await status(token), 401);
  });

  it('rejects an API token from the exact millisecond of its expiry', async () => {
    using clock = service.stopClock();
    const { now } = clock;
    const { token } = await service.apiToken({ expiresAt: now + MINUTE_MS });
    service.clockAheadMs = MINUTE_MS - 1;
    assert.equal(await status(token), 200);
    service.clockAheadMs = MINUTE_MS;
    assert.equal(await status(token), 401);
  });

  it('rejects a revoked API token from the next request on, and still accepts other API tokens', async () => {
    for (let round = 0; round < 10; round++) {
      const { id, token } = await service.apiToken();
      assert.equal(await status(token), 200);
      assert.equal(await service.revokeApiToken(id), true);
      assert.equal(await status(token), 401);
    }
    assert.equal(await status(service.token), 200);
  });

  for (const [size, padding] of [
    ['small', 0],
    ['large', 32_768],
  ] as const) {
    it(`rejects a request whose ${size} body arrives long after its API token was revoked`, async () => {
      const { id, token } = await service.apiToken();
      const head = ['POST /v1/user-groups HTTP/1.1', `Authorization: Token ${token}`];
      const body = JSON.stringify({ user_group_id: `late-${size}`, name: 'Late' }) + ' '.repeat(padding);
      const revoke = () => service.revokeApiToken(id);
      const { status, json } = await exchangeLate(service, { head, body }, revoke);
      assert.deepEqual([status, json.code], [401, 'unauthenticated']);
      assert.equal((await service.get({ user_group_id: `late-${size}` })).status, 404);
    });
  }

  it('rejects two Authorization headers with 400, even if both are valid', async () => {
    const one = `Token ${service.token}`;
    for (const authorization of [
      [one, one],
      [one, 'Token junk'],
      ['Bearer x', one],
    ]) {
      const request: TestRequest = { token: null, headers: { authorization } };
      const response = await service.get({ user_group_id: 'there' }, request);
      assert.deepEqual([response.status, response.json.code], [400, 'invalid_request']);
      assert.match(response.json.detail, /authorization/);
    }
  });

  describe('a request with an Origin header', () => {
    const from = (origin: string, token: string | null = service.token) =>
      service.get({ user_group_id: 'from a browser', name: 'B' }, { token, headers: { origin } });

    it('is rejected with 403 if the origin is foreign, and changes nothing', async () => {
      const foreign = [
        'https://evil.example.com',
        ...lookalikes(ORIGIN),
        ...lookalikes(service.url),
        ...lookalikes(service.url.replace('http', 'https')),
        `${ORIGIN}:8443`,
        ORIGIN.replace('https', 'http'),
        'null',
        'http://127.0.0.1:1',
      ];
      for (const origin of foreign) {
        const response = await from(origin);
        assert.deepEqual([response.status, response.json.code], [403, 'origin_not_allowed'], origin);
        assert.equal(response.headers['access-control-allow-origin'], undefined);
      }
      assert.equal((await service.get({ user_group_id: 'from a browser' })).status, 404);
    });

    it('is rejected if the origin is only a substring of a configured origin or of the list', async () => {
      const [scheme, host] = ORIGIN.split('//') as [string, string];
      const [, ...parents] = host.split('.');
      const parts = [ORIGIN.slice(0, -1), `${scheme}//`, scheme, host, `${scheme}//${parents.join('.')}`];
      for (const origin of [
        ...parts,
        `${ORIGIN},${ORIGIN}`,
        `${ORIGIN} ${OTHER_ORIGIN}`,
        OTHER_ORIGIN.slice(1),
      ]) {
        assert.equal((await from(origin)).status, 403, origin);
      }
    });

    it('is rejected with 403 on every path, before the API token is checked', async () => {
      assert.equal((await from('https://evil.example.com', null)).status, 403);
      for (const [method, path] of [
        ['PUT', '/api/user'],
        ['POST', '/api/user'],
        ['OPTIONS', '/api/user'],
        ['POST', '/v1/user-groups'],
        ['POST', '/v1/resolve'],
        ['GET', '/nothing'],
      ] as const) {
        const response = await service.call(
          method,
          path,
          {},
          { headers: { origin: 'https://evil.example.com' } },
        );
        assert.deepEqual(
          [response.status, response.json.code],
          [403, 'origin_not_allowed'],
          `${method} ${path}`,
        );
      }
    });

    it('is rejected with 403 if the request has no Host that could be the origin', async () => {
      for (const [version, host, origin] of [
        ['1.0', '', 'http://undefined'],
        ['1.1', 'Host:\r\n', 'http://'],
      ] as const) {
        const fields = `${host}Origin: ${origin}\r\nAuthorization: Token ${service.token}\r\nConnection: close\r\n`;
        const response = await exchangeOne(
          service,
          `GET /v1/user-groups/there HTTP/${version}\r\n${fields}\r\n`,
        );
        assert.deepEqual([response.status, response.json.code], [403, 'origin_not_allowed'], origin);
      }
    });

    it('is accepted if the origin is configured or is the service itself', async () => {
      assert.equal((await from(ORIGIN)).status, 200);
      assert.equal((await from(OTHER_ORIGIN)).status, 200);
      assert.equal((await from(service.url)).status, 200);
      assert.equal((await from(service.url.replace('http', 'https'))).status, 200);
      assert.equal((await from(ORIGIN, null)).status, 401);
    });
  });
});

// SQLite's files can be searched; PostgreSQL stores the same values.
describe('the database (SQLite)', () => {
  it('contains the digest of an API token, and no token in plain text', async () => {
    await using service = await TestService.start(sqlite);
    const first = (await service.get({ user_group_id: 'there', name: 'There' })).json.user_group.token;
    const second = (await service.post({ current_token: first })).json.user_group.token;
    const folder = dirname(service.database.url.slice('sqlite:'.length));
    const bytes = readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'latin1'))
      .join('');
    assert.ok(bytes.includes(digestToken(service.token)));
    for (const token of [service.token, first, second]) {
      assert.ok(!bytes.includes(token));
      assert.ok(!bytes.includes(token.slice(4, 40)));
    }
  });
});
