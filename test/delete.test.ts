// Contract: DELETE /v1/user-groups/{user_group_id}: the group is gone, its token dead at once, its id free again.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeOnEachDatabase, postgres } from './database.ts';
import type { TestAnswer, TestRequest } from './http.ts';
import { assertProblem } from './problem.ts';
import { TestService } from './service.ts';

const ROUNDS = 15;

describeOnEachDatabase('DELETE /v1/user-groups/{user_group_id}', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  async function create(id: string): Promise<{ token: string; teamId: number; etag: string }> {
    const { json, headers } = await service.get({ user_group_id: id, name: 'Acme', properties: { a: 1 } });
    const { token, team_id: teamId } = json.user_group;
    return { token, teamId, etag: headers.etag! };
  }

  function remove(id: string, more: Pick<TestRequest, 'token' | 'headers'> = {}): Promise<TestAnswer> {
    return service.call('DELETE', `/v1/user-groups/${id}`, undefined, more);
  }

  it('answers 204 without a body, and the group is gone for every call', async () => {
    const { token } = await create('gone');
    const answer = await remove('gone');
    assert.deepEqual([answer.status, answer.text], [204, '']);
    for (const header of ['content-type', 'content-length', 'transfer-encoding', 'etag']) {
      assert.equal(answer.headers[header], undefined, header);
    }
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.ok(answer.headers['x-request-id']);
    assertProblem(await service.call('GET', '/v1/user-groups/gone'), 'user_group_not_found');
    assertProblem(await service.call('PATCH', '/v1/user-groups/gone', { name: 'N' }), 'user_group_not_found');
    assertProblem(await service.put({ user_group_id: 'gone', name: 'N' }), 'user_group_not_found');
    assertProblem(await service.get({ user_group_id: 'gone' }), 'user_group_not_found');
    assertProblem(await remove('gone'), 'user_group_not_found');
    assertProblem(await service.resolve(token), 'user_group_token_not_found');
    assertProblem(await service.post({ current_token: token }), 'user_group_token_not_found');
  });

  it('ends the grace period of a replaced token too', async () => {
    const { token } = await create('retiring');
    const rotated = await service.post({ current_token: token, grace_period_seconds: 3_600 });
    assert.equal((await service.resolve(token)).json.token.status, 'retiring');
    await remove('retiring');
    for (const each of [token, rotated.json.user_group.token]) {
      assertProblem(await service.resolve(each), 'user_group_token_not_found');
      assertProblem(await service.post({ current_token: each }), 'user_group_token_not_found');
    }
  });

  it('frees the id: the next group of it has a new team_id and token, and nothing of the old one', async () => {
    const first = await create('again');
    await remove('again');
    const second = await service.get({ user_group_id: 'again', name: 'Again', properties: null });
    assert.equal(second.json.new_user_group, true);
    assert.equal(second.json.user_group.properties, null);
    assert.notEqual(second.json.user_group.team_id, first.teamId);
    assert.notEqual(second.json.user_group.token, first.token);
    assertProblem(await service.resolve(first.token), 'user_group_token_not_found');
    assert.equal((await service.resolve(second.json.user_group.token)).status, 200);
  });

  it('leaves every other group alone, also of the same id in another environment or workspace', async () => {
    const others = await Promise.all([
      service.apiToken({ environment: 'Testing' }),
      service.apiToken({ workspaceName: 'other' }),
    ]);
    await create('shared');
    for (const { token } of others) await service.get({ user_group_id: 'shared', name: 'Other' }, { token });
    await create('shared-2');
    assert.equal((await remove('shared')).status, 204);
    assert.equal((await service.get({ user_group_id: 'shared-2' })).status, 200);
    for (const { token } of others) {
      assert.equal((await service.get({ user_group_id: 'shared' }, { token })).status, 200);
      assert.equal((await remove('shared', { token })).status, 204);
      assertProblem(await remove('shared', { token }), 'user_group_not_found');
    }
  });

  it('is refused to a read-only API token', async () => {
    await create('kept');
    const { token } = await service.apiToken({ permission: 'read-only' });
    assertProblem(await remove('kept', { token }), 'permission_denied');
    assert.equal((await service.get({ user_group_id: 'kept' })).status, 200);
  });

  it('with If-Match deletes that version only', async () => {
    const { etag } = await create('conditional');
    const { headers } = await service.put({ user_group_id: 'conditional', name: 'Changed' });
    assertProblem(await remove('conditional', { headers: { 'if-match': etag } }), 'version_mismatch');
    assertProblem(
      await remove('conditional', { headers: { 'if-match': `W/${headers.etag}` } }),
      'version_mismatch',
    );
    assertProblem(await remove('conditional', { headers: { 'if-match': 'x' } }), 'invalid_request');
    assert.equal(
      (await remove('conditional', { headers: { 'if-match': `"x", ${headers.etag}` } })).status,
      204,
    );
    assertProblem(await remove('conditional', { headers: { 'if-match': '*' } }), 'user_group_not_found');
  });

  it('is done by one of many parallel calls; the others find no group', async () => {
    await create('race');
    const answers = await Promise.all(Array.from({ length: 40 }, () => remove('race')));
    assert.equal(answers.filter(({ status }) => status === 204).length, 1);
    assert.equal(answers.filter(({ status }) => status === 404).length, 39);
  });

  it('against rotations and updates leaves the group whole or nothing of it', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const id = `raced-${round}`;
      const { token } = await create(id);
      const [rotated, updated, patched, deleted] = await Promise.all([
        service.post({ current_token: token, grace_period_seconds: 60 }),
        service.put({ user_group_id: id, name: 'Updated' }),
        service.call('PATCH', `/v1/user-groups/${id}`, { properties: { b: 2 } }),
        remove(id),
      ]);
      assert.equal(deleted.status, 204);
      for (const answer of [rotated, updated, patched]) {
        assert.ok([200, 404].includes(answer.status), answer.text);
      }
      const tokens = [token, rotated.json.user_group?.token ?? token];
      for (const each of tokens) assertProblem(await service.resolve(each), 'user_group_token_not_found');
      assertProblem(await service.get({ user_group_id: id }), 'user_group_not_found');
    }
  });

  it('against creates of the same id leaves a group or none, with one token alive', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const id = `reborn-${round}`;
      await create(id);
      const calls = Array.from({ length: 12 }, (_, index) => (index % 3 === 0 ? remove(id) : create(id)));
      const created = (await Promise.all(calls)).filter((each) => 'token' in each);
      const final = await service.get({ user_group_id: id });
      const alive: string[] = [];
      for (const token of new Set(created.map(({ token }) => token))) {
        if ((await service.resolve(token)).status === 200) alive.push(token);
      }
      assert.deepEqual(alive, final.status === 200 ? [final.json.user_group.token] : []);
    }
  });
});

// SQLite has one serving process.
describe('a group that one service deletes (PostgreSQL)', () => {
  it('is gone for the other from the next request on, and is created by one of them', async () => {
    const first = await TestService.start(postgres);
    const second = await TestService.start(postgres, { database: first.database });
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const body = { user_group_id: `group-${round}`, name: 'G' };
        const { token } = (await first.get(body)).json.user_group;
        assert.equal((await second.resolve(token)).status, 200);
        assert.equal((await second.call('DELETE', `/v1/user-groups/${body.user_group_id}`)).status, 204);
        assertProblem(await first.resolve(token), 'user_group_token_not_found');
        const answers = await Promise.all([first.get(body), second.get(body)]);
        assert.equal(answers.filter(({ json }) => json.new_user_group).length, 1);
      }
    } finally {
      await second.stop();
      await first.end();
    }
  });
});
