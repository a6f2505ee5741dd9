// Contract: DELETE /v1/user-groups/{user_group_id} deletes the group, invalidates its token immediately and
// frees its id.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';

const ROUNDS = 15;

describeOnEachDatabase('DELETE /v1/user-groups/{user_group_id}', (database) => {
  const service = TestService.of(database);

  async function create(id: string): Promise<{ token: string; teamId: number }> {
    const { json } = await service.get({ user_group_id: id, name: 'Acme', properties: { a: 1 } });
    const { token, team_id: teamId } = json.user_group;
    return { token, teamId };
  }

  function remove(id: string, more: Pick<TestRequest, 'token' | 'headers'> = {}): Promise<TestResponse> {
    return service.call('DELETE', `/v1/user-groups/${id}`, undefined, more);
  }

  it('returns 204 without a body, and every later call returns 404', async () => {
    const { token } = await create('gone');
    const response = await remove('gone');
    assert.deepEqual([response.status, response.text], [204, '']);
    for (const header of ['content-type', 'content-length', 'transfer-encoding', 'etag']) {
      assert.equal(response.headers[header], undefined, header);
    }
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.ok(response.headers['x-request-id']);
    assertProblem(await service.call('GET', '/v1/user-groups/gone'), 'user_group_not_found');
    assertProblem(await service.call('PATCH', '/v1/user-groups/gone', { name: 'N' }), 'user_group_not_found');
    assertProblem(await service.put({ user_group_id: 'gone', name: 'N' }), 'user_group_not_found');
    assertProblem(await service.get({ user_group_id: 'gone' }), 'user_group_not_found');
    assertProblem(await remove('gone'), 'user_group_not_found');
    assertProblem(await remove('gone', { headers: { 'if-match': '*' } }), 'user_group_not_found');
    assertProblem(await service.resolve(token), 'user_group_token_not_found');
    assertProblem(await service.post({ current_token: token }), 'user_group_token_not_found');
  });

  it('also ends the grace period of a replaced token', async () => {
    const { token } = await create('retiring');
    const rotated = await service.post({ current_token: token, grace_period_seconds: 3_600 });
    assert.equal((await service.resolve(token)).json.token.status, 'retiring');
    await remove('retiring');
    for (const each of [token, rotated.json.user_group.token]) {
      assertProblem(await service.resolve(each), 'user_group_token_not_found');
      assertProblem(await service.post({ current_token: each }), 'user_group_token_not_found');
    }
  });

  it('frees the id: the next group with it has a new team_id and token, and no data of the old group', async () => {
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

  it('changes nothing at another version, not even the history under an earlier id', async () => {
    await create('earlier');
    await service.call('POST', '/v1/user-groups/earlier/rename', { user_group_id: 'later' });
    const read = async () =>
      (
        await Promise.all(['', '/events'].map((path) => service.call('GET', `/v1/user-groups/later${path}`)))
      ).map(({ text }) => text);
    const before = await read();
    assertProblem(await remove('later', { headers: { 'if-match': '"other"' } }), 'version_mismatch');
    assert.deepEqual(await read(), before);
  });

  it('returns 204 to one of many parallel calls and 404 to the others', async () => {
    await create('race');
    const responses = await Promise.all(Array.from({ length: 40 }, () => remove('race')));
    assert.equal(responses.filter(({ status }) => status === 204).length, 1);
    assert.equal(responses.filter(({ status }) => status === 404).length, 39);
  });

  it('deletes the group completely while rotations and updates run in parallel', async () => {
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
      for (const response of [rotated, updated, patched]) {
        assert.ok([200, 404].includes(response.status), response.text);
      }
      const tokens = [token, rotated.json.user_group?.token ?? token];
      for (const each of tokens) assertProblem(await service.resolve(each), 'user_group_token_not_found');
      assertProblem(await service.get({ user_group_id: id }), 'user_group_not_found');
    }
  });

  it('leaves at most one group and one valid token while the same id is created in parallel', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const id = `reborn-${round}`;
      await create(id);
      const calls = Array.from({ length: 12 }, (_, index) => (index % 3 === 0 ? remove(id) : create(id)));
      const created = (await Promise.all(calls)).filter((each) => 'token' in each);
      const final = await service.get({ user_group_id: id });
      const valid: string[] = [];
      for (const token of new Set(created.map(({ token }) => token))) {
        if ((await service.resolve(token)).status === 200) valid.push(token);
      }
      assert.deepEqual(valid, final.status === 200 ? [final.json.user_group.token] : []);
    }
  });
});
