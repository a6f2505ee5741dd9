// The client retries failed calls if and only if that is safe. A proxy between the client and the real
// service loses requests and responses.

import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { type ClientOptions, UserGroupClient } from '../../client/src/index.ts';
import { type Fault, FaultyProxy } from '../support/client/faulty-proxy.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

const refusal = (status: number, code: string, retryAfter = '0'): Fault => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'retry-after': retryAfter },
  body: JSON.stringify({ success: 0, status, code, detail: 'Not now.' }),
});
const refusals = [
  refusal(408, 'request_timeout'),
  refusal(429, 'rate_limited'),
  refusal(503, 'overloaded'),
  refusal(503, 'shutting_down'),
];
/** Faults after which it is unknown whether the call took effect. */
const uncertainties: Fault[] = [
  'lose request',
  'lose response',
  'truncate response',
  refusal(503, 'database_unavailable'),
  { status: 429, body: 'Too many' },
  { status: 502, body: '<html>' },
  { status: 503, body: '' },
  { status: 504, body: 'null' },
];

describe('A failed call of the client', () => {
  const stack = suiteStack();
  let service: TestService;
  let proxy: FaultyProxy;
  let client: UserGroupClient;
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    proxy = stack.use(await FaultyProxy.start(service.url));
    client = clientWith({});
  });
  afterEach(() => {
    proxy.faults = [];
    proxy.seen.length = 0;
  });

  function clientWith(options: Partial<ClientOptions>): UserGroupClient {
    return new UserGroupClient({ url: proxy.url, apiToken: service.token, ...options });
  }

  let groups = 0;
  /** Creates a user group for the test, bypassing the proxy. */
  async function newGroup(): Promise<{ id: string; token: string; etag: string }> {
    const id = `group-${++groups}`;
    const body = { user_group_id: id, name: 'G' };
    const { json, headers } = await service.call('POST', '/v1/user-groups', body);
    return { id, token: json.user_group.token, etag: String(headers.etag) };
  }

  for (const fault of [...refusals, ...uncertainties]) {
    it(`is retried after ${titleOf(fault)}`, async () => {
      const { id } = await newGroup();
      proxy.faults = [fault];
      const { user_group } = await client.update({ user_group_id: id, name: 'Updated' });
      assert.equal(user_group.name, 'Updated');
      assert.equal(proxy.seen.length, 2);
      assert.equal(proxy.seen[0]?.body, proxy.seen[1]?.body);
    });
  }

  describe('whose response is lost', () => {
    const lost: Fault[] = ['lose response', 'truncate response'];

    it('creates one user group, which the retry reports as not new', async () => {
      proxy.faults = [...lost];
      const created = await client.getOrCreate({ user_group_id: 'lost-creation', name: 'Lost' });
      assert.equal(created.new_user_group, false);
      assert.equal((await client.resolve(created.user_group.token)).user_group.provided_id, 'lost-creation');
    });

    it('rotates a token once, and returns the current token', async () => {
      const { id, token } = await newGroup();
      proxy.faults = [...lost];
      const { user_group } = await client.rotate({ current_token: token });
      assert.equal((await client.getOrCreate({ user_group_id: id })).user_group.token, user_group.token);
      assert.equal((await client.resolve(user_group.token)).token.status, 'current');
    });

    it('patches a user group once', async () => {
      const { id } = await newGroup();
      proxy.faults = [...lost];
      const { user_group } = await client.patch(id, { name: 'Patched', properties: { a: 1 } });
      assert.deepEqual([user_group.name, user_group.version], ['Patched', 2]);
    });

    it('succeeds as a deletion if the retry finds no user group', async () => {
      const { id } = await newGroup();
      proxy.faults = [...lost];
      await client.delete(id);
      await assert.rejects(client.read(id), { code: 'user_group_not_found' });
    });

    it('deletes only the version of ifMatch, not a user group created since then', async () => {
      const { id, etag } = await newGroup();
      proxy.faults = [...lost];
      await client.delete(id, { ifMatch: etag });
      const again = await client.getOrCreate({ user_group_id: id, name: 'Again' });
      proxy.faults = ['lose request'];
      await assert.rejects(client.delete(id, { ifMatch: etag }), { code: 'version_mismatch' });
      assert.equal((await client.read(id)).etag, again.etag);
    });

    it('reads, resolves and lists', async () => {
      const { id, token } = await newGroup();
      proxy.faults = [...lost];
      assert.equal((await client.read(id)).user_group.provided_id, id);
      proxy.faults = [...lost];
      assert.equal((await client.resolve(token)).user_group.provided_id, id);
      proxy.faults = [...lost];
      assert.equal((await client.listPage({ search: id })).user_groups[0]?.provided_id, id);
    });
  });

  it('does not report an unknown user group as deleted', async () => {
    proxy.faults = [refusal(503, 'overloaded')];
    await assert.rejects(client.delete('never-there'), { code: 'user_group_not_found' });
    assert.equal(proxy.seen.length, 2);
  });

  it('is not retried with ifNoneMatch if it may have taken effect', async () => {
    for (const [index, fault] of uncertainties.entries()) {
      proxy.seen.length = 0;
      proxy.faults = [fault];
      const group = { user_group_id: `only created ${index}`, name: 'New' };
      const creating = client.getOrCreate(group, { ifNoneMatch: '*' });
      await assert.rejects(creating, ({ code }) => code !== 'version_mismatch', titleOf(fault));
      assert.equal(proxy.seen.length, 1);
      assert.equal(proxy.seen[0]!.headers['if-none-match'], '*');
    }
  });

  for (const place of ['option', 'document']) {
    it(`is not retried as a configuration that may have been applied, with the version in the ${place}`, async () => {
      const { token: apiToken } = await service.apiToken({ permission: 'admin' });
      const admin = clientWith({ apiToken });
      for (const fault of uncertainties) {
        const { config_version } = await admin.readConfig();
        proxy.seen.length = 0;
        proxy.faults = [fault];
        const mode = config_version === 0 ? 'report' : 'enforce';
        const config = { version: 1, mapping_policy: { mode } } as const;
        const applying =
          place === 'option'
            ? admin.applyConfig(config, { configVersion: config_version })
            : admin.applyConfig(Object.assign(config, { config_version }));
        await assert.rejects(applying, ({ code }) => code !== 'version_mismatch', titleOf(fault));
        assert.equal(proxy.seen.length, 1);
      }
    });
  }

  it('is not sent again as a rotation by id that may have been done: it would rotate twice', async () => {
    for (const fault of uncertainties) {
      const { id, token } = await newGroup();
      proxy.faults = [fault];
      proxy.seen.length = 0;
      await assert.rejects(client.rotateById(id), { name: 'UserGroupServiceError' }, titleOf(fault));
      assert.equal(proxy.seen.length, 1);
      const { user_group } = await client.read(id);
      assert.equal(user_group.version, user_group.token === token ? 1 : 2);
    }
  });

  it('is sent again as a rotation by id after an answer that proves that nothing was done', async () => {
    const { id } = await newGroup();
    proxy.faults = refusals.slice(0, 3);
    const { user_group } = await client.rotateById(id);
    assert.equal(user_group.version, 2);
  });

  describe('with ifMatch', () => {
    const changes: [string, (id: string, ifMatch: string, token: string) => Promise<unknown>][] = [
      ['update', (id, ifMatch) => client.update({ user_group_id: id, name: 'New' }, { ifMatch })],
      ['patch', (id, ifMatch) => client.patch(id, { name: 'New' }, { ifMatch })],
      ['replace', (id, ifMatch) => client.replace(id, { name: 'New' }, { ifMatch })],
      ['rotate', (_id, ifMatch, token) => client.rotate({ current_token: token }, { ifMatch })],
    ];
    for (const [name, change] of changes) {
      it(`is retried as ${name} after a response that guarantees that it had no effect`, async () => {
        const { id, etag, token } = await newGroup();
        proxy.faults = refusals.slice(0, 3);
        await change(id, etag, token);
        assert.equal(proxy.seen.length, 4);
        assert.ok(proxy.seen.every(({ headers }) => headers['if-match'] === etag));
      });

      for (const fault of uncertainties) {
        it(`is not retried as ${name} after ${titleOf(fault)}, because it may have taken effect`, async () => {
          const { id, etag, token } = await newGroup();
          proxy.faults = [fault];
          await assert.rejects(change(id, etag, token), ({ code }) => code !== 'version_mismatch');
          assert.equal(proxy.seen.length, 1);
        });
      }
    }
  });

  it('is not retried after a permanent error', async () => {
    const permanent: Fault[] = [
      refusal(400, 'invalid_request'),
      refusal(401, 'unauthenticated'),
      refusal(500, 'internal_error'),
      { status: 301, headers: { location: '/elsewhere' } },
      { status: 403, body: '<html>' },
      { status: 200, body: '<html>' },
      { status: 501 },
    ];
    for (const fault of permanent) {
      proxy.seen.length = 0;
      proxy.faults = [fault];
      await assert.rejects(client.resolve('any'));
      assert.equal(proxy.seen.length, 1, JSON.stringify(fault));
    }
  });

  it('fails after maxRetries, with the last error', async () => {
    for (const maxRetries of [0, 1, 2]) {
      proxy.seen.length = 0;
      proxy.faults = [...Array<Fault>(maxRetries).fill('lose request'), refusal(503, 'overloaded')];
      const attempt = clientWith({ maxRetries }).resolve('any');
      await assert.rejects(attempt, { code: 'overloaded', status: 503, retryAfterSeconds: 0 });
      assert.equal(proxy.seen.length, maxRetries + 1);
    }
    proxy.faults = [refusal(503, 'overloaded')];
    await assert.rejects(client.resolve('any', { maxRetries: 0 }), { code: 'overloaded' });
  });

  it('outlasts a restart of the service', async () => {
    proxy.faults = Array<Fault>(50).fill('lose request');
    const restart = setTimeout(() => {
      proxy.faults = [];
    }, 2_500);
    await assert.rejects(client.resolve('any'), { code: 'user_group_token_not_found' });
    clearTimeout(restart);
  });

  it('waits as long as Retry-After specifies, in seconds or until a date', async () => {
    // An HTTP date has no milliseconds.
    const inTwoSeconds = (): string => new Date(Date.now() + 2_000).toUTCString();
    for (const retryAfter of [() => '1', inTwoSeconds]) {
      proxy.seen.length = 0;
      proxy.faults = [refusal(429, 'rate_limited', retryAfter())];
      await assert.rejects(client.resolve('any'), { code: 'user_group_token_not_found' });
      assert.ok(waits(proxy)[0]! >= 900, String(waits(proxy)));
    }
  });

  it('counts until a date of Retry-After from the date of the response, because clocks differ', async () => {
    for (const aheadMs of [600_000, -600_000]) {
      const at = (inMs: number): string => new Date(Date.now() + aheadMs + inMs).toUTCString();
      proxy.seen.length = 0;
      proxy.faults = [{ status: 503, headers: { date: at(0), 'retry-after': at(2_000) } }];
      await assert.rejects(client.resolve('any'), { code: 'user_group_token_not_found' });
      assert.ok(waits(proxy)[0]! >= 900, String(waits(proxy)));
    }
  });

  it('ignores the Retry-After of a process that shuts down, because another process may be ready', async () => {
    proxy.faults = [refusal(503, 'shutting_down', '1')];
    await assert.rejects(client.resolve('any'), { code: 'user_group_token_not_found' });
    assert.ok(waits(proxy)[0]! < 900, String(waits(proxy)));
  });

  it('fails immediately if Retry-After exceeds the remaining time', {
    timeout: 10_000,
  }, async () => {
    proxy.faults = [refusal(429, 'rate_limited', '3600')];
    await assert.rejects(client.resolve('any'), { code: 'rate_limited', retryAfterSeconds: 3_600 });
    assert.equal(proxy.seen.length, 1);
  });

  it('waits with exponential backoff and jitter, so that clients do not retry together', async () => {
    const firstWaits: number[] = [];
    for (let call = 0; call < 12; call++) {
      proxy.seen.length = 0;
      proxy.faults = ['lose request'];
      await assert.rejects(client.resolve('any'), { code: 'user_group_token_not_found' });
      firstWaits.push(waits(proxy)[0]!);
    }
    assert.ok(Math.max(...firstWaits) < 200 + 150, String(firstWaits));
    assert.ok(Math.max(...firstWaits) - Math.min(...firstWaits) > 40, String(firstWaits));
    proxy.seen.length = 0;
    proxy.faults = ['lose request', 'lose request', 'lose request'];
    await assert.rejects(client.resolve('any'), { code: 'user_group_token_not_found' });
    for (const [index, wait] of waits(proxy).entries()) {
      const maxMs = 200 * 2 ** index;
      // A timer may fire a millisecond early.
      assert.ok(wait >= maxMs / 2 - 1 && wait < maxMs + 150, String(waits(proxy)));
    }
  });
});

function titleOf(fault: Fault): string {
  if (typeof fault === 'string') return `"${fault}"`;
  const { code } = /"code":"(?<code>\w+)"/.exec(fault.body ?? '')?.groups ?? {};
  return code ?? `a ${fault.status} of a proxy`;
}

/** Returns the delays between the requests, in milliseconds. */
function waits({ seen }: FaultyProxy): number[] {
  return seen.slice(1).map(({ at }, index) => at - seen[index]!.at);
}
