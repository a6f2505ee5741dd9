// Contract: more work than can wait is refused at once, told when to come back, and leaves no trace.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOnEachDatabase } from './database.ts';
import { TestService } from './service.ts';

const CALLS = 400;

describeOnEachDatabase('overload', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database, { env: { UGS_QUEUE_LIMIT: '2' } });
  });
  after(() => service.end());

  it('answers what it can and refuses the rest with 503 and Retry-After', async () => {
    const ids = Array.from({ length: CALLS }, (_, index) => `group-${index}`);
    const answers = await Promise.all(ids.map((id) => service.get({ user_group_id: id, name: id })));
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    assert.ok(served.length > 0);
    assert.ok(refused.length > 0);
    for (const { status, json, headers } of refused) {
      assert.deepEqual([status, json.code], [503, 'overloaded']);
      assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
    }
    for (const { json } of served) assert.equal(json.new_user_group, true);
  });

  it('has done nothing of what it refused, and recovers', async () => {
    const body = { user_group_id: 'race', name: 'Race' };
    const answers = await Promise.all(Array.from({ length: CALLS }, () => service.get(body)));
    const created = answers.filter(({ json }) => json.new_user_group === true);
    assert.ok(created.length <= 1);
    const again = await service.get(body);
    assert.equal(again.status, 200);
    assert.equal(again.json.new_user_group, created.length === 0);
    for (let call = 0; call < 20; call++) assert.equal((await service.get(body)).status, 200);
  });

  it('leaves a token as it was where it refused to rotate it', async () => {
    const tokens: string[] = [];
    for (let index = 0; index < 100; index++) {
      const created = await service.get({ user_group_id: `rotated-${index}`, name: 'R' });
      tokens.push(created.json.user_group.token);
    }
    const answers = await Promise.all(tokens.map((token) => service.post({ current_token: token })));
    assert.ok(answers.some(({ status }) => status === 503));
    for (const [index, token] of tokens.entries()) {
      const { status } = await service.resolve(token);
      assert.equal(status, answers[index]?.status === 200 ? 404 : 200);
    }
  });

  it('is logged as a warning that names the request', async () => {
    const ids = Array.from({ length: CALLS }, (_, index) => `logged-${index}`);
    const answers = await Promise.all(ids.map((id) => service.get({ user_group_id: id, name: id })));
    const { json } = answers.find(({ status }) => status === 503)!;
    const entry = service.logLines
      .map((line) => JSON.parse(line))
      .find(({ requestId, code }) => requestId === json.request_id && code !== undefined);
    assert.deepEqual([entry.level, entry.code], [40, 'overloaded']);
  });
});
