// Contract: workspaces and environments isolate groups; `read-only` looks them up and creates none. See permission.test.ts
// for every endpoint.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { NewApiToken } from '../../src/operations/api-token/api-token.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('workspaces and environments', (database) => {
  const service = TestService.of(database);

  /** Returns the complete state of the group in the `default` workspace, environment `Customer`. */
  async function stored(id: string): Promise<unknown> {
    const { json, headers } = await service.get({ user_group_id: id });
    const resolved = await service.resolve(json.user_group.token);
    return [json, headers.etag, resolved.json];
  }

  const strangers: Record<string, Partial<NewApiToken>> = {
    'another environment of the workspace': { environment: 'Testing' },
    'the same environment of another workspace': { workspaceName: 'other' },
  };

  for (const [origin, fields] of Object.entries(strangers)) {
    describe(`to a caller of ${origin}`, () => {
      let stranger: string;
      before(async () => {
        stranger = (await service.apiToken(fields)).token;
      });

      it('a group does not exist by its id, by its token or in a list, and cannot be changed', async () => {
        const id = `hidden from ${origin}`;
        const path = `/v1/user-groups/${encodeURIComponent(id)}`;
        const body = { user_group_id: id, name: 'Hidden', mapping: { 1: 2 }, properties: { a: 1 } };
        const { token } = (await service.get(body)).json.user_group;
        const before = await stored(id);
        const as = { token: stranger };
        const attempts: [TestResponse, string][] = [
          [await service.get({ user_group_id: id }, as), 'user_group_not_found'],
          [await service.call('POST', '/v1/user-groups', { user_group_id: id }, as), 'user_group_not_found'],
          [await service.put({ ...body, name: 'Taken' }, as), 'user_group_not_found'],
          [await service.post({ current_token: token }, as), 'user_group_token_not_found'],
          [await service.resolve(token, as), 'user_group_token_not_found'],
          [await service.call('GET', path, undefined, as), 'user_group_not_found'],
          [await service.call('PATCH', path, { name: 'Taken' }, as), 'user_group_not_found'],
          [await service.call('DELETE', path, undefined, as), 'user_group_not_found'],
        ];
        for (const [response, code] of attempts) {
          assert.deepEqual([response.status, response.json.code], [404, code]);
          assert.equal(response.headers.etag, undefined);
        }
        for (const search of ['', `&search=${encodeURIComponent(id)}`, '&search=Hidden']) {
          const list = `/v1/user-groups?limit=1000${search}`;
          const { json } = await service.call('GET', list, undefined, as);
          const names = json.user_groups.map(({ name }: { name: string }) => name);
          assert.ok(!names.includes('Hidden'), `in a list${search}`);
        }
        assert.deepEqual(await stored(id), before);
      });

      it('the same id is free, and the two groups are independent', async () => {
        const id = `shared with ${origin}`;
        const ours = await service.get({ user_group_id: id, name: 'Ours' });
        const theirs = await service.get({ user_group_id: id, name: 'Theirs' }, { token: stranger });
        assert.deepEqual([ours.json.new_user_group, theirs.json.new_user_group], [true, true]);
        assert.notEqual(theirs.json.user_group.token, ours.json.user_group.token);
        assert.notEqual(theirs.json.user_group.team_id, ours.json.user_group.team_id);
        const before = await stored(id);
        await service.put({ user_group_id: id, name: 'Theirs still' }, { token: stranger });
        await service.post({ current_token: theirs.json.user_group.token }, { token: stranger });
        assert.deepEqual(await stored(id), before);
        const path = `/v1/user-groups/${encodeURIComponent(id)}`;
        await service.call('PATCH', path, { properties: { theirs: true } }, { token: stranger });
        assert.equal((await service.call('DELETE', path, undefined, { token: stranger })).status, 204);
        assert.deepEqual(await stored(id), before);
      });
    });
  }

  it('tag a group with the environment of the API token that created it', async () => {
    for (const environment of ['Customer', 'Testing'] as const) {
      const { token } = await service.apiToken({ environment });
      const created = await service.get({ user_group_id: 'tagged', name: 'Tagged' }, { token });
      const updated = await service.put({ user_group_id: 'tagged', name: 'New' }, { token });
      const rotated = await service.post({ current_token: created.json.user_group.token }, { token });
      assert.equal(updated.json.user_group.api_environment_tag, environment);
      assert.equal(rotated.json.user_group.api_environment_tag, environment);
    }
  });

  it('issue unique team_ids across workspaces, environments and restarts', async () => {
    const callers = [
      service.token,
      (await service.apiToken({ environment: 'Testing' })).token,
      (await service.apiToken({ workspaceName: 'third' })).token,
    ];
    const ids = new Set<number>();
    for (let round = 0; round < 3; round++) {
      for (const token of callers) {
        const { json } = await service.get({ user_group_id: `team-${round}`, name: 'Team' }, { token });
        ids.add(json.user_group.team_id);
      }
      await service.restart();
    }
    assert.equal(ids.size, 9);
    assert.ok([...ids].every((id) => Number.isSafeInteger(id) && id > 0));
  });

  it('read-only looks a group up with its token, and is told which permission would create one', async () => {
    const { token } = (await service.get({ user_group_id: 'there', name: 'There' })).json.user_group;
    const as = { token: (await service.apiToken({ permission: 'read-only' })).token };
    for (const [method, path] of [
      ['GET', '/api/user'],
      ['POST', '/v1/user-groups'],
    ] as const) {
      const call = (body: object) => service.call(method, path, body, as);
      const found = await call({ user_group_id: 'there', name: 'Other', mapping: {}, properties: {} });
      assert.deepEqual([found.status, found.json.user_group.token], [200, token]);
      assertProblem(await call({ user_group_id: 'missing' }), 'user_group_not_found');
      const refused = await call({ user_group_id: 'missing', name: 'M' });
      assertProblem(refused, 'permission_denied');
      assert.match(refused.json.detail, /permission read-only may not .*; this requires read-write/);
    }
    assertProblem(await service.get({ user_group_id: 'missing' }), 'user_group_not_found');
    assert.equal((await service.get({ user_group_id: 'there' })).json.user_group.name, 'There');
  });
});
