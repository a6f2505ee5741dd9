// The log of requests: UGS_ACCESS_LOG=on writes one line per request, which contains no secrets.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { mintApiToken } from '../../src/domain/token.ts';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { sqlite } from '../support/database.ts';
import { send, type TestResponse } from '../support/http.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const LEVEL_DEBUG = 20;
const LEVEL_INFO = 30;
const LEVEL_WARN = 40;

type Entry = Record<string, unknown>;

function signIn({ url }: TestService, apiToken: string, headers = {}): Promise<TestResponse> {
  const body = new URLSearchParams({ api_token: apiToken });
  return send(url, { method: 'POST', path: '/console/sign-in', body, headers: { origin: url, ...headers } });
}

function entriesOf({ logLines }: TestService): Entry[] {
  return logLines.map((line) => JSON.parse(line));
}

// The lines do not depend on the database.
describe('the access log', () => {
  const env = { UGS_ACCESS_LOG: 'on', UGS_TRUSTED_PROXIES: '127.0.0.0/8, ::1' };
  const service = TestService.of(sqlite, { env });
  let tokenId: number;
  let apiToken: string;
  before(async () => {
    ({ id: tokenId, token: apiToken } = await service.apiToken());
  });

  /** Returns the only line about a request, without the fields that every line has. */
  async function entryOf(requestId: unknown): Promise<Entry> {
    const isAbout = (entry: Entry) =>
      entry.requestId === requestId && String(entry.msg).startsWith('request');
    const find = () => entriesOf(service).filter(isAbout);
    await eventually('the line of the request', () => find().length > 0);
    const [{ time: _, pid: __, hostname: ___, thread: ____, ...entry } = {}, ...more] = find();
    assert.deepEqual(more, []);
    return entry;
  }

  const entryFor = (response: TestResponse) => entryOf(response.headers['x-request-id']);

  it('has one line for a call, with the caller, the address, the trace and the duration', async () => {
    const headers = {
      'x-forwarded-for': '198.51.100.7, 203.0.113.9, 127.0.0.1',
      'x-request-id': 'one-call',
      traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
    };
    await service.get({ user_group_id: 'one', name: 'One' }, { headers, token: apiToken });
    const { durationMs, ...entry } = await entryOf('one-call');
    assert.ok(Number(durationMs) > 0 && Number(durationMs) < 60_000, String(durationMs));
    assert.deepEqual(entry, {
      level: LEVEL_INFO,
      requestId: 'one-call',
      traceId: TRACE_ID,
      operation: 'getOrCreateUserGroup',
      method: 'GET',
      path: '/api/user',
      status: 200,
      apiTokenId: tokenId,
      address: '203.0.113.9',
      msg: 'request',
    });
  });

  it('has the API token with which a person signs in to the console', async () => {
    const response = await signIn(service, apiToken);
    assert.equal(response.status, 303);
    assert.equal((await entryFor(response)).apiTokenId, tokenId);
  });

  it('has the registered path, and neither ids nor the query nor the token of a group', async () => {
    const created = await service.get({ user_group_id: 'hidden-id', name: 'Hidden' });
    const { token } = created.json.user_group;
    const read = await service.call('GET', '/v1/user-groups/hidden-id');
    const list = await service.call('GET', '/v1/user-groups?search=hidden-id&limit=7');
    const unknown = await service.call('GET', `/hidden-id/${token}?token=${token}`);
    assert.deepEqual((await entryFor(read)).path, '/v1/user-groups/:user_group_id');
    assert.deepEqual((await entryFor(list)).path, '/v1/user-groups');
    const { path, status, operation } = await entryFor(unknown);
    assert.deepEqual([path, operation, status], [undefined, undefined, 404]);
    const log = service.logLines.join('');
    for (const secret of ['hidden-id', 'limit=7', token]) assert.equal(log.includes(secret), false, secret);
  });

  it('has the API token of a call that is refused, unless authentication failed', async () => {
    const { id, token } = await service.apiToken({ permission: 'resolve' });
    const forbidden = await service.put({ user_group_id: 'one', name: 'Two' }, { token });
    assert.equal(forbidden.status, 403);
    assert.equal((await entryFor(forbidden)).apiTokenId, id);
    await service.revokeApiToken(id);
    const revoked = await service.put({ user_group_id: 'one', name: 'Two' }, { token });
    assert.equal(revoked.status, 401);
    assert.equal((await entryFor(revoked)).apiTokenId, undefined);
  });

  it('has requests that no endpoint handles', async () => {
    assert.equal((await entryFor(await service.call('GET', '/%'))).status, 400);
    assert.equal((await entryFor(await service.call('DELETE', '/api/user'))).status, 405);
  });

  it('has a health check only if it fails', async () => {
    const ids = ['/healthz', '/readyz'].map(async (path) => {
      const { status, headers } = await service.call('GET', path);
      assert.equal(status, 200);
      return headers['x-request-id'];
    });
    const succeeded = await Promise.all(ids);
    // This line is logged after the health checks.
    await entryFor(await service.get({ user_group_id: 'one' }));
    const logged = entriesOf(service).filter(({ requestId }) => succeeded.includes(String(requestId)));
    assert.deepEqual(logged, []);
    const refused = await service.call('POST', '/readyz');
    assert.deepEqual([refused.status, (await entryFor(refused)).status], [405, 405]);
  });

  it('has no status for a request whose client disconnects before the response', async () => {
    const connection = await RawConnection.open(service.url);
    const head = `PUT /api/user HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${apiToken}\r\nX-Request-Id: gone\r\n`;
    connection.write(`${head}Content-Length: 100\r\n\r\n{`);
    await eventually(
      'the request in flight',
      async () => (await service.call('GET', '/healthz')).status === 200,
    );
    connection.leave();
    const { status, address, msg } = await entryOf('gone');
    assert.deepEqual([status, address], [undefined, '127.0.0.1']);
    assert.match(String(msg), /disconnected/);
  });

  it('has a line for each pipelined request', async () => {
    const connection = await RawConnection.open(service.url);
    const request = (id: string) => `GET /openapi.json HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\n\r\n`;
    const ids = ['pipelined-1', 'pipelined-2', 'pipelined-3'];
    connection.write(ids.map(request).join(''));
    for (const id of ids) assert.equal((await entryOf(id)).status, 200);
    connection.leave();
  });
});

describe('with UGS_ACCESS_LOG=all', () => {
  it('health checks that succeed are logged too', async () => {
    await using service = await TestService.start(sqlite, { env: { UGS_ACCESS_LOG: 'all' } });
    await service.call('GET', '/readyz');
    await service.call('GET', '/healthz');
    const logged = () => entriesOf(service).filter(({ msg }) => msg === 'request');
    await eventually('two lines', () => logged().length === 2);
    const described = logged().map(({ level, operation }) => [level, operation]);
    assert.deepEqual(described, [
      [LEVEL_INFO, 'checkReady'],
      [LEVEL_INFO, 'checkAlive'],
    ]);
  });
});

describe('without UGS_ACCESS_LOG', () => {
  it('requests are logged at level debug', async () => {
    await using service = await TestService.start(sqlite);
    const response = await service.call('GET', '/readyz');
    const isOfRequest = ({ requestId }: Entry) => requestId === response.headers['x-request-id'];
    const lines = await eventually('the line', () => {
      const found = entriesOf(service).filter(isOfRequest);
      return found.length > 0 && found;
    });
    assert.deepEqual(
      lines.map(({ level, operation }) => [level, operation]),
      [[LEVEL_DEBUG, 'checkReady']],
    );
  });
});

describe('failed authentication', () => {
  it('is logged as one warning with the number of failures and where most of them come from', async () => {
    const service = await TestService.start(sqlite, { env: { UGS_TRUSTED_PROXIES: '127.0.0.1,::1' } });
    const warnings = () => entriesOf(service).filter(({ msg }) => msg === 'requests failed authentication');
    try {
      const { id, token: revoked } = await service.apiToken();
      await service.revokeApiToken(id);
      const { token: expired } = await service.apiToken({ expiresAt: Date.now() - 1 });
      const statusOf = async (token: string | null, address: string) =>
        (await service.resolve('any', { token, headers: { 'x-forwarded-for': address } })).status;
      const unknown = mintApiToken().reveal();
      assert.equal((await signIn(service, unknown, { 'x-forwarded-for': '203.0.113.9' })).status, 401);
      for (const token of [revoked, expired, unknown, `${expired}x`, null])
        assert.equal(await statusOf(token, '203.0.113.9'), 401);
      assert.equal(await statusOf(revoked, '2001:db8::1'), 401);
      assert.deepEqual(warnings(), []);
    } finally {
      await service.end();
    }
    // The connection may belong to the second thread, which names itself in the line.
    const [{ time: _, pid: __, hostname: ___, thread: ____, ...warning } = {}, ...more] = warnings();
    assert.deepEqual(more, []);
    assert.deepEqual(warning, {
      level: LEVEL_WARN,
      failures: 7,
      reasons: { unknown: 2, revoked: 2, expired: 1, missing: 2 },
      addresses: 2,
      address: '203.0.113.9',
      ofAddress: 6,
      msg: 'requests failed authentication',
    });
  });
});
