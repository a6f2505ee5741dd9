// Contract: POST /api/user rotates the token of a user group.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { computeBucket } from '../../src/domain/bucket.ts';
import { mintApiToken, mintUserGroupToken } from '../../src/domain/token.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { assertProblem, pointersOf } from '../support/problem.ts';
import { type LogEntry, TestService } from '../support/service.ts';

const TOKEN = /^ugt_[0-9A-Za-z]{52}$/;
const MINUTE_MS = 60_000;

describeOnEachDatabase('POST /api/user', (database) => {
  const service = TestService.of(database);
  let groups = 0;
  beforeEach(() => {
    service.clockAheadMs = 0;
  });

  async function createGroup(): Promise<{ id: string; token: string; teamId: number }> {
    const id = `group-${++groups}`;
    const { user_group } = (await service.get({ user_group_id: id, name: 'Acme', properties: { a: 1 } }))
      .json;
    return { id, token: user_group.token, teamId: user_group.team_id };
  }

  async function rotate(token: string, gracePeriodSeconds?: number): Promise<string> {
    const body = { current_token: token, grace_period_seconds: gracePeriodSeconds };
    const response = await service.post(body);
    assert.equal(response.status, 200, response.text);
    return response.json.user_group.token;
  }

  it('returns exactly the specified fields in the specified order', async () => {
    const { id, token, teamId } = await createGroup();
    const response = await service.post({ current_token: token });
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    const next = response.json.user_group.token;
    assert.match(next, TOKEN);
    assert.notEqual(next, token);
    assert.equal(
      response.text,
      `{"success":1,"user_group":{"team_id":${teamId},"token":"${next}","name":"Acme","provided_id":"${id}",` +
        '"api_environment_tag":"Customer"}}',
    );
  });

  it('changes nothing but the token', async () => {
    const { id, token, teamId } = await createGroup();
    const next = await rotate(token);
    const { user_group } = (await service.resolve(next)).json;
    assert.deepEqual(user_group, {
      team_id: teamId,
      provided_id: id,
      name: 'Acme',
      properties: { a: 1 },
      mapping: null,
      api_environment_tag: 'Customer',
    });
    const found = await service.get({ user_group_id: id });
    assert.deepEqual([found.json.user_group.token, found.json.user_group.team_id], [next, teamId]);
  });

  describe('without a grace period', () => {
    it('makes the new token valid and the old one invalid immediately', async () => {
      let { token } = await createGroup();
      for (let round = 0; round < 10; round++) {
        const old = token;
        token = await rotate(old);
        assert.deepEqual(
          [await service.tokenStatus(token), await service.tokenStatus(old)],
          ['current', 'user_group_token_not_found'],
        );
      }
    });

    it('makes the old token invalid in the exact millisecond of the rotation', async () => {
      using _stopped = service.stopClock();
      const { token } = await createGroup();
      await rotate(token);
      assert.equal(await service.tokenStatus(token), 'user_group_token_not_found');
    });

    it('keeps the old token invalid if a clock is set back', async () => {
      const { token } = await createGroup();
      await rotate(token, 0);
      service.clockAheadMs = -MINUTE_MS;
      assert.equal(await service.tokenStatus(token), 'user_group_token_not_found');
    });
  });

  describe('with a grace period', () => {
    it('resolves the old token until the exact millisecond of its expiry, and returns the expiry', async () => {
      using clock = service.stopClock();
      const { now } = clock;
      const { token } = await createGroup();
      const next = await rotate(token, 120);
      const expires_at = new Date(now + 2 * MINUTE_MS).toISOString();
      assert.deepEqual((await service.resolve(token)).json.token, { status: 'retiring', expires_at });

      service.clockAheadMs = 2 * MINUTE_MS - 1;
      assert.deepEqual(
        [await service.tokenStatus(token), await service.tokenStatus(next)],
        ['retiring', 'current'],
      );
      service.clockAheadMs = 2 * MINUTE_MS;
      assert.deepEqual(
        [await service.tokenStatus(token), await service.tokenStatus(next)],
        ['user_group_token_not_found', 'current'],
      );
    });

    it('keeps at most one old token valid: a second rotation ends the grace period of an older one', async () => {
      const { token: first } = await createGroup();
      const second = await rotate(first, 3_600);
      const third = await rotate(second, 3_600);
      assert.deepEqual(
        [
          await service.tokenStatus(first),
          await service.tokenStatus(second),
          await service.tokenStatus(third),
        ],
        ['user_group_token_not_found', 'retiring', 'current'],
      );
      await rotate(third);
      assert.equal(await service.tokenStatus(second), 'user_group_token_not_found');
    });

    it('accepts a whole number of seconds from 0 to 2 592 000', async () => {
      for (const seconds of [0, 1, 2_592_000]) await rotate((await createGroup()).token, seconds);
      const rejected = [-1, 2_592_001, 1.5, 1e300, '60', null, true, [60], {}];
      for (const grace_period_seconds of rejected) {
        const { token } = await createGroup();
        const response = await service.post({ current_token: token, grace_period_seconds });
        assert.deepEqual(
          [response.status, response.json.code],
          [400, 'invalid_request'],
          `${grace_period_seconds}`,
        );
        assert.deepEqual(pointersOf(response), ['/grace_period_seconds']);
        assert.equal(await service.tokenStatus(token), 'current');
      }
    });
  });

  describe('repeated with the token that the last rotation replaced', () => {
    it('returns the same response and does not rotate', async () => {
      for (const gracePeriodSeconds of [0, 3_600]) {
        const { token } = await createGroup();
        const body = { current_token: token, grace_period_seconds: gracePeriodSeconds };
        const first = await service.post(body);
        const again = await service.post(body);
        assert.equal(again.status, 200);
        assert.equal(again.text, first.text);
        assert.equal(again.headers.etag, first.headers.etag);
        assert.equal(await service.tokenStatus(first.json.user_group.token), 'current');
      }
    });

    it('also returns it after the grace period', async () => {
      const { token } = await createGroup();
      const next = await rotate(token, 60);
      service.clockAheadMs = 2 * MINUTE_MS;
      assert.equal(await service.tokenStatus(token), 'user_group_token_not_found');
      assert.equal(await rotate(token), next);
      assert.equal(await service.tokenStatus(token), 'user_group_token_not_found');
    });

    it('neither extends nor ends the grace period', async () => {
      const { token } = await createGroup();
      await rotate(token, 600);
      const before = (await service.resolve(token)).json.token;
      await rotate(token, 1_200);
      await rotate(token, 0);
      assert.deepEqual((await service.resolve(token)).json.token, before);
    });

    it('rejects a token that an earlier rotation replaced', async () => {
      const { token: first } = await createGroup();
      const second = await rotate(first, 3_600);
      await rotate(second, 3_600);
      const response = await service.post({ current_token: first });
      assert.deepEqual([response.status, response.json.code], [404, 'user_group_token_not_found']);
    });
  });

  describe('called in parallel with one token', () => {
    it('rotates once and returns the same new token to both callers', async () => {
      for (let round = 0; round < 10; round++) {
        const { token } = await createGroup();
        const [first, second] = await Promise.all([
          service.post({ current_token: token }),
          service.post({ current_token: token }),
        ]);
        assert.deepEqual([first.status, second.status], [200, 200]);
        assert.equal(second.text, first.text);
        const next = first.json.user_group.token;
        assert.deepEqual(
          [await service.tokenStatus(next), await service.tokenStatus(token)],
          ['current', 'user_group_token_not_found'],
        );
      }
    });

    it('rotates once for 100 callers', async () => {
      const { id, token } = await createGroup();
      const before = await service.get({ user_group_id: id });
      const body = { current_token: token, grace_period_seconds: 60 };
      const calls = Array.from({ length: 100 }, () => service.post(body));
      const responses = await Promise.all(calls);
      assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
      assert.equal(new Set(responses.map(({ text }) => text)).size, 1);
      const etags = new Set(responses.map(({ headers }) => headers.etag));
      assert.equal(etags.size, 1);
      const found = await service.get({ user_group_id: id });
      assert.equal(found.headers.etag, responses[0]?.headers.etag);
      assert.equal(found.headers.etag, before.headers.etag!.replace(/1"$/, '2"'));
      const next = responses[0]?.json.user_group.token;
      assert.deepEqual(
        [await service.tokenStatus(next), await service.tokenStatus(token)],
        ['current', 'retiring'],
      );
    });
  });

  describe('with a token that cannot be rotated', () => {
    async function rejections(): Promise<Record<string, TestResponse>> {
      const { token } = await createGroup();
      const second = await rotate(token, 3_600);
      const third = await rotate(second);
      const elsewhere = async (fields: Parameters<TestService['apiToken']>[0]) => {
        const { token: apiToken } = await service.apiToken(fields);
        return service.post({ current_token: third }, { token: apiToken });
      };
      const post = (current_token: string) => service.post({ current_token });
      return {
        unknown: await post(mintUserGroupToken(computeBucket(1, 'Customer', 'missing')).reveal()),
        replaced: await post(token),
        malformed: await post('not a token'),
        mistyped: await post(third.slice(0, -1) + (third.endsWith('0') ? '1' : '0')),
        'an API token': await post(mintApiToken().reveal()),
        'white space around it': await post(` ${third} `),
        'another workspace': await elsewhere({ workspaceName: 'other' }),
        'another environment': await elsewhere({ environment: 'Testing' }),
      };
    }

    it('returns the same 404 for every cause', async () => {
      const texts = new Set<string>();
      for (const [reason, response] of Object.entries(await rejections())) {
        assert.deepEqual([response.status, response.json.code], [404, 'user_group_token_not_found'], reason);
        texts.add(JSON.stringify({ ...response.json, request_id: '' }));
      }
      assert.equal(texts.size, 1);
    });

    it('makes the same queries for a token of another place as for an unknown one, so takes as long', async (t) => {
      // The queries of other threads cannot be observed.
      await using alone = await TestService.start(database, { env: { UGS_THREADS: '1' } });
      const { token } = (await alone.get({ user_group_id: 'a', name: 'Acme' })).json.user_group;
      const unknown = mintUserGroupToken(computeBucket(1, 'Customer', 'missing')).reveal();
      for (const fields of [{ workspaceName: 'other' }, { environment: 'Testing' }] as const) {
        const apiToken = (await alone.apiToken(fields)).token;
        const { mock } = t.mock.method(BatchingStore.prototype, 'read');
        const { mock: requests } = t.mock.method(alone.app.context.store, 'until');
        const queriesOf = async (current_token: string) => {
          mock.resetCalls();
          assertProblem(
            await alone.post({ current_token }, { token: apiToken }),
            'user_group_token_not_found',
          );
          // Without those of the webhooks, which run at any time.
          const stores = new Set(requests.calls.map(({ result }) => result));
          const calls = mock.calls.filter((call) => stores.has(call.this as BatchingStore));
          return calls.map(({ arguments: [{ kind }] }) => kind);
        };
        // The service prefetches for an API token that it knows.
        await queriesOf(unknown);
        const queries = await queriesOf(unknown);
        assert.ok(queries.includes('findUserGroupByToken'));
        assert.deepEqual(await queriesOf(token), queries);
        mock.restore();
        requests.restore();
      }
    });

    it('does not repeat the response for another workspace or environment', async () => {
      const { token } = await createGroup();
      await rotate(token, 3_600);
      for (const fields of [{ workspaceName: 'other' }, { environment: 'Testing' }] as const) {
        const response = await service.post(
          { current_token: token },
          { token: (await service.apiToken(fields)).token },
        );
        assert.deepEqual([response.status, response.json.code], [404, 'user_group_token_not_found']);
      }
    });
  });

  it('returns 400 if current_token is missing, empty, null or not a string', async () => {
    const bodies = [
      {},
      { current_token: '' },
      { current_token: null },
      { current_token: 7 },
      { current_token: {} },
    ];
    for (const body of bodies) {
      const response = await service.post(body);
      assert.deepEqual([response.status, response.json.code], [400, 'invalid_request'], JSON.stringify(body));
      assert.equal(response.json.errors[0].pointer, '/current_token');
    }
  });

  it('explains a GET that a client or proxy turned into POST, and names the endpoint to use', async () => {
    const response = await service.post({ user_group_id: 'turned', name: 'Turned' });
    assert.deepEqual([response.status, response.json.code], [400, 'invalid_request']);
    assert.match(response.json.detail, /client or proxy has changed GET to POST/);
    assert.match(response.json.detail, /POST \/v1\/user-groups/);
    assert.equal((await service.get({ user_group_id: 'turned' })).status, 404);
  });

  it('does not mention GET if current_token is present', async () => {
    const { token } = await createGroup();
    const response = await service.post({ current_token: token, user_group_id: 'x' });
    assert.deepEqual([response.status, response.json.code], [400, 'unknown_field']);
    assert.doesNotMatch(response.json.detail, /GET/);
    assert.equal(await service.tokenStatus(token), 'current');
  });

  it('survives a restart, including the grace period', async () => {
    const { token } = await createGroup();
    const next = await rotate(token, 3_600);
    const before = (await service.resolve(token)).json.token;
    await service.restart();
    assert.deepEqual((await service.resolve(token)).json.token, before);
    assert.equal(await service.tokenStatus(next), 'current');
  });
});

describeOnEachDatabase('the default grace period of the server', (database) => {
  const service = TestService.of(database, { env: { UGS_DEFAULT_GRACE_PERIOD_SECONDS: '600' } });

  it('applies only to rotations without a grace period of their own', async () => {
    for (const [sent, status] of [
      [undefined, 200],
      [0, 404],
    ] as const) {
      const { token } = (await service.get({ user_group_id: `default-${sent}`, name: 'D' })).json.user_group;
      await service.post({ current_token: token, grace_period_seconds: sent });
      assert.equal((await service.resolve(token)).status, status);
    }
  });
});

// Only on SQLite: the test changes the row directly in the database file.
describe('a stored token that was tampered with (SQLite)', () => {
  // Threads divide the limit of log lines.
  const service = TestService.of(sqlite, { env: { UGS_THREADS: '1' } });

  function sealedTokenOf(id: string): string {
    using file = openFile();
    const sql = 'select token_ciphertext as sealed from user_groups where provided_id = ?';
    return file.prepare(sql).get(id)?.sealed as string;
  }

  function tamper(id: string, column: 'token_ciphertext' | 'token_key_id', value: string): void {
    using file = openFile();
    file.prepare(`update user_groups set ${column} = ? where provided_id = ?`).run(value, id);
  }

  function openFile(): DatabaseSync {
    return new DatabaseSync(service.database.url.slice('sqlite:'.length), { timeout: 5_000 });
  }

  function flipped(sealed: string): string {
    return sealed.slice(0, 30) + (sealed[30] === 'A' ? 'B' : 'A') + sealed.slice(31);
  }

  const damages: Record<string, (id: string) => Promise<void>> = {
    'a changed character': async (id) => tamper(id, 'token_ciphertext', flipped(sealedTokenOf(id))),
    'a truncated text': async (id) => tamper(id, 'token_ciphertext', sealedTokenOf(id).slice(0, 20)),
    'an empty text': async (id) => tamper(id, 'token_ciphertext', ''),
    'the sealed token of another group': async (id) => {
      await service.get({ user_group_id: `${id} neighbour`, name: 'N' });
      tamper(id, 'token_ciphertext', sealedTokenOf(`${id} neighbour`));
    },
    'a key that is not in the ring': async (id) => tamper(id, 'token_key_id', '00000000'),
    'the sealed token from before a rotation': async (id) => {
      const old = sealedTokenOf(id);
      const { token } = (await service.get({ user_group_id: id })).json.user_group;
      await service.post({ current_token: token });
      tamper(id, 'token_ciphertext', old);
    },
  };

  for (const [what, damage] of Object.entries(damages)) {
    it(`gets 503 and is never replaced: ${what}`, async () => {
      const id = `damaged by ${what}`;
      await service.get({ user_group_id: id, name: 'Damaged' });
      await damage(id);
      const damaged = sealedTokenOf(id);
      for (const response of [
        await service.get({ user_group_id: id, name: 'Damaged' }),
        await service.put({ user_group_id: id }),
        await service.call('POST', '/v1/user-groups', { user_group_id: id, name: 'Damaged' }),
      ]) {
        assert.deepEqual([response.status, response.json.code], [503, 'database_unavailable']);
        assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
        assert.equal('user_group' in response.json, false);
      }
      assert.equal(sealedTokenOf(id), damaged);
    });
  }

  it('is logged as an error with the request id', async () => {
    await service.get({ user_group_id: 'alarm', name: 'Alarm' });
    tamper('alarm', 'token_ciphertext', flipped(sealedTokenOf('alarm')));
    // The failures before may have used up the lines of this second.
    await sleep(1_000);
    const { json } = await service.get({ user_group_id: 'alarm' });
    const isFailure = ({ requestId, code }: LogEntry) => requestId === json.request_id && code !== undefined;
    const entry = await service.logEntry('the failure', isFailure);
    assert.deepEqual([entry.level, entry.code], [50, 'database_unavailable']);
    assert.match(entry.err.message, /does not decrypt/);
  });

  it('still resolves, because the lookup needs only the digest', async () => {
    const { token } = (await service.get({ user_group_id: 'resolves', name: 'R' })).json.user_group;
    tamper('resolves', 'token_ciphertext', flipped(sealedTokenOf('resolves')));
    assert.equal((await service.resolve(token)).json.token.status, 'current');
  });

  it('is logged in at most ten lines per second, with the number of suppressed lines', async () => {
    await service.get({ user_group_id: 'flood', name: 'Flood' });
    tamper('flood', 'token_ciphertext', flipped(sealedTokenOf('flood')));
    service.logLines.length = 0;
    const startedAt = performance.now();
    const call = () => service.get({ user_group_id: 'flood' });
    for (const { json } of await Promise.all(Array.from({ length: 100 }, call)))
      assert.equal(json.code, 'database_unavailable');
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000) + 1;
    // The first line of the next second has the count of this one.
    await sleep(1_000);
    await call();
    const lines = service.logEntries.filter(({ level }) => level === 50);
    assert.ok(lines.length <= 10 * seconds + 1, `${lines.length} lines in ${seconds} seconds`);
    const counted = lines.reduce((sum, { unlogged = 0 }) => sum + 1 + unlogged, 0);
    assert.ok(counted >= 101, `${counted} lines`);
  });
});
