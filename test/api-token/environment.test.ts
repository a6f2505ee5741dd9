// Contract: workspaces and environments isolate groups, and a permission limits what an API token may do.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Permission } from '../../src/domain/api-token.ts';
import type { NewApiToken } from '../../src/operations/api-token/api-token.ts';
import { describeOnEachDatabase, postgres } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('workspaces, environments and permissions', (database) => {
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

  it('have one group per id in an environment, whichever API token is used', async () => {
    const { token: second } = await service.apiToken();
    const created = await service.get({ user_group_id: 'one', name: 'One' });
    const found = await service.get({ user_group_id: 'one', name: 'One' }, { token: second });
    assert.deepEqual(found.json, { ...created.json, new_user_group: false });
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

  describe('a permission', () => {
    let token: string;
    before(async () => {
      const body = { user_group_id: 'there', name: 'There' };
      token = (await service.get(body)).json.user_group.token;
    });

    const calls: Record<string, (more: { token: string }) => Promise<TestResponse>> = {
      'GET a group that exists': (as) => service.get({ user_group_id: 'there' }, as),
      'GET a group that exists, with other fields': (as) =>
        service.get({ user_group_id: 'there', name: 'Other', mapping: {}, properties: {} }, as),
      'GET a missing group without a name': (as) => service.get({ user_group_id: 'missing' }, as),
      'GET a missing group with a name': (as) => service.get({ user_group_id: 'missing', name: 'M' }, as),
      'POST /v1/user-groups of a group that exists': (as) =>
        service.call('POST', '/v1/user-groups', { user_group_id: 'there' }, as),
      'POST /v1/user-groups of a missing group with a name': (as) =>
        service.call('POST', '/v1/user-groups', { user_group_id: 'missing', name: 'M' }, as),
      'PUT a group': (as) => service.put({ user_group_id: 'there', name: 'Changed' }, as),
      'PUT an invalid body': (as) => service.put({ nonsense: 1 }, as),
      'POST a token to rotate': (as) => service.post({ current_token: token }, as),
      'read a group': (as) => service.call('GET', '/v1/user-groups/there', undefined, as),
      'PATCH a group': (as) => service.call('PATCH', '/v1/user-groups/there', { name: 'Changed' }, as),
      'PATCH a group with nothing': (as) => service.call('PATCH', '/v1/user-groups/there', {}, as),
      'DELETE a group': (as) => service.call('DELETE', '/v1/user-groups/there', undefined, as),
      'DELETE a missing group': (as) => service.call('DELETE', '/v1/user-groups/missing', undefined, as),
      'list the groups': (as) => service.call('GET', '/v1/user-groups', undefined, as),
      'resolve a token': (as) => service.resolve(token, as),
    };

    const expected: Record<Exclude<Permission, 'admin' | 'read-write'>, number[]> = {
      'read-only': [200, 200, 404, 403, 200, 403, 403, 403, 403, 200, 403, 403, 403, 403, 200, 200],
      resolve: [...new Array<number>(15).fill(403), 200],
      embed: [...new Array<number>(15).fill(403), 200],
    };

    for (const [permission, statuses] of Object.entries(expected)) {
      for (const [index, [what, call]] of Object.entries(calls).entries()) {
        const status = statuses[index];
        it(`${permission}: ${what} returns ${status} and changes nothing`, async () => {
          const before = await stored('there');
          const apiToken = await service.apiToken({ permission: permission as Permission });
          const response = await call({ token: apiToken.token });
          assert.equal(response.status, status);
          if (status === 403) assert.equal(response.json.code, 'permission_denied');
          assert.deepEqual(await stored('there'), before);
          assert.equal((await service.get({ user_group_id: 'missing' })).status, 404);
        });
      }
    }

    it('shows tokens to read-only only through get-or-create, and to resolve through no call', async () => {
      const callsWithToken: Record<string, string[]> = {};
      for (const permission of Object.keys(expected) as Permission[]) {
        const as = { token: (await service.apiToken({ permission })).token };
        callsWithToken[permission] = [];
        for (const [what, call] of Object.entries(calls)) {
          if ((await call(as)).text.includes(token)) callsWithToken[permission].push(what);
        }
      }
      assert.deepEqual(callsWithToken, {
        'read-only': [
          'GET a group that exists',
          'GET a group that exists, with other fields',
          'POST /v1/user-groups of a group that exists',
        ],
        resolve: [],
        embed: [],
      });
    });

    it('read-write allows every call', async () => {
      const as = { token: (await service.apiToken({ permission: 'read-write' })).token };
      const created = await service.get({ user_group_id: 'free', name: 'Free' }, as);
      const updated = await service.put({ user_group_id: 'free', name: 'Freer' }, as);
      const rotated = await service.post({ current_token: created.json.user_group.token }, as);
      const resolved = await service.resolve(rotated.json.user_group.token, as);
      const posted = await service.call(
        'POST',
        '/v1/user-groups',
        { user_group_id: 'free-2', name: 'F' },
        as,
      );
      assert.deepEqual(
        [created, updated, rotated, resolved, posted].map(({ status }) => status),
        [200, 200, 200, 200, 201],
      );
    });

    it('that does not suffice is named in the error, with the required one', async () => {
      const as = { token: (await service.apiToken({ permission: 'resolve' })).token };
      const { json } = await service.put({ user_group_id: 'there' }, as);
      assert.match(json.detail, /permission resolve may not update user groups; this requires read-write/);
    });
  });
});

// Only one process can serve SQLite.
describe('two services on one database (PostgreSQL)', () => {
  const [first, second] = TestService.pairOf(postgres);

  it('create a group once between them, and issue unique team_ids', async () => {
    const ids = new Set<number>();
    for (let round = 0; round < 20; round++) {
      const body = { user_group_id: `race-${round}`, name: 'Race' };
      const calls = [first, second, first, second].map((service) => service.get(body));
      const responses = (await Promise.all(calls)).map(({ json }) => json);
      assert.equal(responses.filter(({ new_user_group }) => new_user_group).length, 1);
      assert.equal(new Set(responses.map(({ user_group }) => user_group.token)).size, 1);
      ids.add(responses[0]?.user_group.team_id);
    }
    assert.equal(ids.size, 20);
  });
});
