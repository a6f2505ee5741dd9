// Contract: an API token that makes more requests a minute than it may is told to wait.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOnEachDatabase } from './database.ts';
import { TestService } from './service.ts';

const LIMIT = 5;
const HOUR_MS = 3_600_000;

describeOnEachDatabase('the rate limit', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database, { env: { UGS_RATE_LIMIT_PER_MINUTE: String(LIMIT) } });
  });
  after(() => service.end());

  /** The statuses of calls of every kind, one after the other. */
  async function statuses(token: string, calls: number): Promise<number[]> {
    const found: number[] = [];
    for (let call = 0; call < calls; call++) {
      const id = `group-${call}`;
      const answer = await (call % 2 === 0
        ? service.get({ user_group_id: id, name: 'G' }, { token })
        : service.resolve('unknown', { token }));
      found.push(answer.status);
    }
    return found;
  }

  it('refuses what is beyond it with 429 and says when to try again', async () => {
    const { token } = await service.apiToken();
    assert.deepEqual(await statuses(token, LIMIT), [200, 404, 200, 404, 200]);
    const answer = await service.get({ user_group_id: 'too-many', name: 'T' }, { token });
    assert.deepEqual([answer.status, answer.json.code], [429, 'rate_limited']);
    const seconds = Number(answer.headers['retry-after']);
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, String(seconds));
  });

  it('asks nobody to wait for more than a minute, also when the clock was set back', async (t) => {
    const { token } = await service.apiToken();
    await statuses(token, LIMIT);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - HOUR_MS });
    const answer = await service.resolve('unknown', { token });
    assert.deepEqual([answer.status, answer.headers['retry-after']], [429, '60']);
  });

  it('does nothing of what it refuses', async () => {
    const { token } = await service.apiToken({ workspaceName: 'refused' });
    await statuses(token, LIMIT);
    await service.get({ user_group_id: 'refused', name: 'R' }, { token });
    const { token: other } = await service.apiToken({ workspaceName: 'refused' });
    assert.equal((await service.get({ user_group_id: 'refused' }, { token: other })).status, 404);
  });

  it('counts each API token by itself', async () => {
    const first = (await service.apiToken()).token;
    const second = (await service.apiToken()).token;
    await statuses(first, LIMIT + 1);
    assert.equal((await statuses(second, 1))[0], 200);
    assert.equal((await statuses(first, 1))[0], 429);
  });

  it('lets exactly so many of parallel requests through', async () => {
    const { token } = await service.apiToken();
    const calls = Array.from({ length: 40 }, () =>
      service.get({ user_group_id: 'group-0', name: 'G' }, { token }),
    );
    const answers = await Promise.all(calls);
    assert.equal(answers.filter(({ status }) => status === 200).length, LIMIT);
    assert.equal(answers.filter(({ status }) => status === 429).length, 40 - LIMIT);
  });

  it('counts no request that is not authenticated', async () => {
    const { token } = await service.apiToken();
    for (let call = 0; call < 2 * LIMIT; call++) {
      assert.equal((await service.get({}, { token: `${token.slice(0, -1)}~` })).status, 401);
    }
    assert.equal((await statuses(token, 1))[0], 200);
  });
});

describeOnEachDatabase('without a rate limit', (database) => {
  it('an API token may make any number of requests', async () => {
    const service = await TestService.start(database);
    try {
      const answers = await Promise.all(Array.from({ length: 300 }, () => service.resolve('unknown')));
      assert.ok(answers.every(({ status }) => status === 404));
    } finally {
      await service.end();
    }
  });
});
