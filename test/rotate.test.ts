// Contract: POST /api/user rotates the token of a user group.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, describe, it } from 'node:test';
import { bucketOf } from '../src/domain/bucket.ts';
import { mintApiToken, mintUserGroupToken } from '../src/domain/token.ts';
import { describeOnEachDatabase, postgres, sqlite } from './database.ts';
import type { TestAnswer } from './http.ts';
import { TestService } from './service.ts';

const TOKEN = /^ugt_[0-9A-Za-z]{52}$/;
const MINUTE_MS = 60_000;

describeOnEachDatabase('POST /api/user', (database) => {
  let service: TestService;
  let groups = 0;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());
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
    const answer = await service.post(body);
    assert.equal(answer.status, 200, answer.text);
    return answer.json.user_group.token;
  }

  /** `current`, `retiring`, or the code of the refusal. */
  async function statusOf(token: string): Promise<string> {
    const { json } = await service.resolve(token);
    return json.success === 1 ? json.token.status : json.code;
  }

  it('answers with the fields of the specification, in its order and no others', async () => {
    const { id, token, teamId } = await createGroup();
    const answer = await service.post({ current_token: token });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    const next = answer.json.user_group.token;
    assert.match(next, TOKEN);
    assert.notEqual(next, token);
    assert.equal(
      answer.text,
      `{"success":1,"user_group":{"team_id":${teamId},"token":"${next}","name":"Acme","provided_id":"${id}",` +
        '"api_environment_tag":"Customer"}}',
    );
  });

  it('is the same at /api/user/ with a slash at the end', async () => {
    const { token } = await createGroup();
    const answer = await service.call('POST', '/api/user/', { current_token: token });
    assert.match(answer.json.user_group.token, TOKEN);
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
    it('makes the new token valid and the old one dead at once', async () => {
      let { token } = await createGroup();
      for (let round = 0; round < 10; round++) {
        const old = token;
        token = await rotate(old);
        assert.deepEqual(
          [await statusOf(token), await statusOf(old)],
          ['current', 'user_group_token_not_found'],
        );
      }
    });

    it('makes the old token dead in the very millisecond of the rotation', async ({ mock }) => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() });
      const { token } = await createGroup();
      await rotate(token);
      assert.equal(await statusOf(token), 'user_group_token_not_found');
    });

    it('keeps the old token dead where a clock is set back', async () => {
      const { token } = await createGroup();
      await rotate(token, 0);
      service.clockAheadMs = -MINUTE_MS;
      assert.equal(await statusOf(token), 'user_group_token_not_found');
    });
  });

  describe('with a grace period', () => {
    it('lets the old token resolve until it ends, to the millisecond, and says when that is', async ({
      mock,
    }) => {
      const now = Date.now();
      mock.timers.enable({ apis: ['Date'], now });
      const { token } = await createGroup();
      const next = await rotate(token, 120);
      const expires_at = new Date(now + 2 * MINUTE_MS).toISOString();
      assert.deepEqual((await service.resolve(token)).json.token, { status: 'retiring', expires_at });

      service.clockAheadMs = 2 * MINUTE_MS - 1;
      assert.deepEqual([await statusOf(token), await statusOf(next)], ['retiring', 'current']);
      service.clockAheadMs = 2 * MINUTE_MS;
      assert.deepEqual(
        [await statusOf(token), await statusOf(next)],
        ['user_group_token_not_found', 'current'],
      );
    });

    it('keeps one old token alive at most: a second rotation ends the grace of an older one', async () => {
      const { token: first } = await createGroup();
      const second = await rotate(first, 3_600);
      const third = await rotate(second, 3_600);
      assert.deepEqual(
        [await statusOf(first), await statusOf(second), await statusOf(third)],
        ['user_group_token_not_found', 'retiring', 'current'],
      );
      await rotate(third);
      assert.equal(await statusOf(second), 'user_group_token_not_found');
    });

    it('takes a whole number of seconds from 0 to 2 592 000', async () => {
      for (const seconds of [0, 1, 2_592_000]) await rotate((await createGroup()).token, seconds);
      const refused = [-1, 2_592_001, 1.5, 1e300, '60', null, true, [60], {}];
      for (const grace_period_seconds of refused) {
        const { token } = await createGroup();
        const answer = await service.post({ current_token: token, grace_period_seconds });
        assert.deepEqual(
          [answer.status, answer.json.code],
          [400, 'invalid_request'],
          `${grace_period_seconds}`,
        );
        assert.deepEqual(
          answer.json.errors.map(({ pointer }: { pointer: string }) => pointer),
          ['/grace_period_seconds'],
        );
        assert.equal(await statusOf(token), 'current');
      }
    });
  });

  describe('posted again with the token that the last rotation replaced', () => {
    it('gives the same answer and rotates nothing', async () => {
      for (const gracePeriodSeconds of [0, 3_600]) {
        const { token } = await createGroup();
        const body = { current_token: token, grace_period_seconds: gracePeriodSeconds };
        const first = await service.post(body);
        const again = await service.post(body);
        assert.equal(again.status, 200);
        assert.equal(again.text, first.text);
        assert.equal(again.headers.etag, first.headers.etag);
        assert.equal(await statusOf(first.json.user_group.token), 'current');
      }
    });

    it('does so after the grace period too', async () => {
      const { token } = await createGroup();
      const next = await rotate(token, 60);
      service.clockAheadMs = 2 * MINUTE_MS;
      assert.equal(await statusOf(token), 'user_group_token_not_found');
      assert.equal(await rotate(token), next);
      assert.equal(await statusOf(token), 'user_group_token_not_found');
    });

    it('neither prolongs nor ends the grace period', async () => {
      const { token } = await createGroup();
      await rotate(token, 600);
      const before = (await service.resolve(token)).json.token;
      await rotate(token, 1_200);
      await rotate(token, 0);
      assert.deepEqual((await service.resolve(token)).json.token, before);
    });

    it('refuses a token that an earlier rotation replaced', async () => {
      const { token: first } = await createGroup();
      const second = await rotate(first, 3_600);
      await rotate(second, 3_600);
      const answer = await service.post({ current_token: first });
      assert.deepEqual([answer.status, answer.json.code], [404, 'user_group_token_not_found']);
    });
  });

  describe('called at the same time with one token', () => {
    it('rotates once and gives both callers the same new token', async () => {
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
          [await statusOf(next), await statusOf(token)],
          ['current', 'user_group_token_not_found'],
        );
      }
    });

    it('rotates once for 100 callers', async () => {
      const { id, token } = await createGroup();
      const before = await service.get({ user_group_id: id });
      const calls = Array.from({ length: 100 }, () => service.post({ current_token: token }));
      const answers = await Promise.all(calls);
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      const etags = new Set(answers.map(({ headers }) => headers.etag));
      assert.equal(etags.size, 1);
      const found = await service.get({ user_group_id: id });
      assert.equal(found.headers.etag, answers[0]?.headers.etag);
      assert.notEqual(found.headers.etag, before.headers.etag);
    });
  });

  describe('with a token that cannot be rotated', () => {
    async function refusals(): Promise<Record<string, TestAnswer>> {
      const { token } = await createGroup();
      const second = await rotate(token, 3_600);
      const third = await rotate(second);
      const elsewhere = async (fields: Parameters<TestService['apiToken']>[0]) => {
        const { token: apiToken } = await service.apiToken(fields);
        return service.post({ current_token: third }, { token: apiToken });
      };
      const post = (current_token: string) => service.post({ current_token });
      return {
        unknown: await post(mintUserGroupToken(bucketOf(1, 'Customer', 'nobody')).reveal()),
        dead: await post(token),
        malformed: await post('no token at all'),
        mistyped: await post(third.slice(0, -1) + (third.endsWith('0') ? '1' : '0')),
        'an API token': await post(mintApiToken().reveal()),
        'white space around it': await post(` ${third} `),
        'another workspace': await elsewhere({ workspaceName: 'other' }),
        'another environment': await elsewhere({ environment: 'Testing' }),
      };
    }

    it('gives one and the same 404, whatever is wrong with it', async () => {
      const texts = new Set<string>();
      for (const [reason, answer] of Object.entries(await refusals())) {
        assert.deepEqual([answer.status, answer.json.code], [404, 'user_group_token_not_found'], reason);
        texts.add(JSON.stringify({ ...answer.json, request_id: '' }));
      }
      assert.equal(texts.size, 1);
    });

    it('rotates nothing for another workspace or environment', async () => {
      const { token } = await createGroup();
      for (const fields of [{ workspaceName: 'other' }, { environment: 'Testing' }] as const) {
        await service.post({ current_token: token }, { token: (await service.apiToken(fields)).token });
      }
      assert.equal(await statusOf(token), 'current');
    });

    it('repeats no lost answer for another workspace or environment', async () => {
      const { token } = await createGroup();
      await rotate(token, 3_600);
      for (const fields of [{ workspaceName: 'other' }, { environment: 'Testing' }] as const) {
        const answer = await service.post(
          { current_token: token },
          { token: (await service.apiToken(fields)).token },
        );
        assert.deepEqual([answer.status, answer.json.code], [404, 'user_group_token_not_found']);
      }
    });
  });

  it('answers 400 where current_token is missing, empty, null or not a string', async () => {
    const bodies = [
      {},
      { current_token: '' },
      { current_token: null },
      { current_token: 7 },
      { current_token: {} },
    ];
    for (const body of bodies) {
      const answer = await service.post(body);
      assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_request'], JSON.stringify(body));
      assert.equal(answer.json.errors[0].pointer, '/current_token');
    }
  });

  it('explains a GET that was turned into POST, and names the call to use', async () => {
    const answer = await service.post({ user_group_id: 'turned', name: 'Turned' });
    assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_request']);
    assert.match(answer.json.detail, /client or a proxy has turned GET into POST/);
    assert.match(answer.json.detail, /POST \/v1\/user-groups/);
    assert.equal((await service.get({ user_group_id: 'turned' })).status, 404);
  });

  it('gives no such explanation where current_token is there', async () => {
    const { token } = await createGroup();
    const answer = await service.post({ current_token: token, user_group_id: 'x' });
    assert.deepEqual([answer.status, answer.json.code], [400, 'unknown_field']);
    assert.doesNotMatch(answer.json.detail, /GET/);
    assert.equal(await statusOf(token), 'current');
  });

  it('survives a restart, with the grace period', async () => {
    const { token } = await createGroup();
    const next = await rotate(token, 3_600);
    const before = (await service.resolve(token)).json.token;
    await service.restart();
    assert.deepEqual((await service.resolve(token)).json.token, before);
    assert.equal(await statusOf(next), 'current');
  });
});

describeOnEachDatabase('the default grace period of the server', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database, { env: { UGS_DEFAULT_GRACE_PERIOD_SECONDS: '600' } });
  });
  after(() => service.end());

  it('holds where a rotation names none, and only there', async () => {
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

// SQLite has one serving process.
describe('two services on one database (PostgreSQL)', () => {
  let first: TestService;
  let second: TestService;
  before(async () => {
    first = await TestService.start(postgres);
    second = await TestService.start(postgres, { database: first.database });
  });
  after(async () => {
    await second.stop();
    await first.end();
  });

  it('refuse a rotated token and take the new one from the next request on, whichever rotated it', async () => {
    let { token } = (await first.get({ user_group_id: 'shared', name: 'Shared' })).json.user_group;
    for (let round = 0; round < 20; round++) {
      const [one, other] = round % 2 === 0 ? [first, second] : [second, first];
      const old = token;
      token = (await one.post({ current_token: old })).json.user_group.token;
      const statuses = [(await other.resolve(old)).status, (await other.resolve(token)).status];
      assert.deepEqual(statuses, [404, 200]);
      const found = await other.get({ user_group_id: 'shared' });
      assert.equal(found.json.user_group.token, token);
    }
  });

  it('rotate once where both are called at the same time with one token', async () => {
    for (let round = 0; round < 20; round++) {
      const { token } = (await first.get({ user_group_id: `race-${round}`, name: 'R' })).json.user_group;
      const answers = await Promise.all(
        [first, second].map((service) => service.post({ current_token: token })),
      );
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
      );
      assert.equal(answers[1]?.text, answers[0]?.text);
    }
  });

  it('give a repeated call the same answer, whichever is asked', async () => {
    const { token } = (await first.get({ user_group_id: 'repeated', name: 'R' })).json.user_group;
    const answer = await first.post({ current_token: token });
    assert.equal((await second.post({ current_token: token })).text, answer.text);
  });
});

// The row is changed behind the service's back, which takes the file itself.
describe('a stored token that was tampered with (SQLite)', () => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(sqlite);
  });
  after(() => service.end());

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

  const ways: Record<string, (id: string) => Promise<void>> = {
    'a changed character': async (id) => tamper(id, 'token_ciphertext', flipped(sealedTokenOf(id))),
    'a text cut short': async (id) => tamper(id, 'token_ciphertext', sealedTokenOf(id).slice(0, 20)),
    'an empty text': async (id) => tamper(id, 'token_ciphertext', ''),
    'the sealed token of another group': async (id) => {
      await service.get({ user_group_id: `${id} neighbour`, name: 'N' });
      tamper(id, 'token_ciphertext', sealedTokenOf(`${id} neighbour`));
    },
    'a key that the ring lacks': async (id) => {
      tamper(id, 'token_key_id', '00000000');
      // What a process has opened once it knows, and rightly so.
      await service.restart();
    },
    'the sealed token from before a rotation': async (id) => {
      const old = sealedTokenOf(id);
      const { token } = (await service.get({ user_group_id: id })).json.user_group;
      await service.post({ current_token: token });
      tamper(id, 'token_ciphertext', old);
    },
  };

  for (const [way, damage] of Object.entries(ways)) {
    it(`is answered 503 and never replaced: ${way}`, async () => {
      const id = `damaged by ${way}`;
      await service.get({ user_group_id: id, name: 'Damaged' });
      await damage(id);
      const damaged = sealedTokenOf(id);
      for (const answer of [
        await service.get({ user_group_id: id, name: 'Damaged' }),
        await service.put({ user_group_id: id }),
        await service.call('POST', '/v1/user-groups', { user_group_id: id, name: 'Damaged' }),
      ]) {
        assert.deepEqual([answer.status, answer.json.code], [503, 'database_unavailable']);
        assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
        assert.equal('user_group' in answer.json, false);
      }
      assert.equal(sealedTokenOf(id), damaged);
    });
  }

  it('raises an alarm in the log that names the request', async () => {
    await service.get({ user_group_id: 'alarm', name: 'Alarm' });
    tamper('alarm', 'token_ciphertext', flipped(sealedTokenOf('alarm')));
    const { json } = await service.get({ user_group_id: 'alarm' });
    const alarm = service.logLines
      .map((line) => JSON.parse(line))
      .find((entry) => entry.requestId === json.request_id);
    assert.deepEqual([alarm?.level, alarm?.code], [50, 'database_unavailable']);
    assert.match(alarm.err.message, /does not open/);
  });

  it('still resolves, since a look-up needs no more than the digest', async () => {
    const { token } = (await service.get({ user_group_id: 'resolves', name: 'R' })).json.user_group;
    tamper('resolves', 'token_ciphertext', flipped(sealedTokenOf('resolves')));
    assert.equal((await service.resolve(token)).json.token.status, 'current');
  });
});
