// Contract: workspaces and environments keep groups apart, and a permission says what an API token may do.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Permission } from '../src/domain/api-token.ts';
import type { NewApiToken } from '../src/operations/api-token.ts';
import { describeOnEachDatabase, postgres } from './database.ts';
import type { TestAnswer } from './http.ts';
import { TestService } from './service.ts';

describeOnEachDatabase('workspaces, environments and permissions', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  /** What is stored of the group of the `default` workspace in `Customer`, whole. */
  async function stored(id: string): Promise<unknown> {
    const { json, headers } = await service.get({ user_group_id: id });
    const resolved = await service.resolve(json.user_group.token);
    return [json, headers.etag, resolved.json];
  }

  const strangers: Record<string, Partial<NewApiToken>> = {
    'another environment of the workspace': { environment: 'Testing' },
    'the same environment of another workspace': { workspaceName: 'other' },
  };

  for (const [who, fields] of Object.entries(strangers)) {
    describe(`to a caller of ${who}`, () => {
      let stranger: string;
      before(async () => {
        stranger = (await service.apiToken(fields)).token;
      });

      it('a group does not exist, neither by its id nor by its token, and cannot be changed', async () => {
        const id = `hidden from ${who}`;
        const body = { user_group_id: id, name: 'Hidden', mapping: { 1: 2 }, properties: { a: 1 } };
        const { token } = (await service.get(body)).json.user_group;
        const before = await stored(id);
        const as = { token: stranger };
        const attempts: [TestAnswer, string][] = [
          [await service.get({ user_group_id: id }, as), 'user_group_not_found'],
          [await service.call('POST', '/v1/user-groups', { user_group_id: id }, as), 'user_group_not_found'],
          [await service.put({ ...body, name: 'Taken' }, as), 'user_group_not_found'],
          [await service.post({ current_token: token }, as), 'user_group_token_not_found'],
          [await service.resolve(token, as), 'user_group_token_not_found'],
        ];
        for (const [answer, code] of attempts) {
          assert.deepEqual([answer.status, answer.json.code], [404, code]);
          assert.equal(answer.headers.etag, undefined);
        }
        assert.deepEqual(await stored(id), before);
      });

      it('the same id is free, and the two groups live side by side', async () => {
        const id = `shared with ${who}`;
        const ours = await service.get({ user_group_id: id, name: 'Ours' });
        const theirs = await service.get({ user_group_id: id, name: 'Theirs' }, { token: stranger });
        assert.deepEqual([ours.json.new_user_group, theirs.json.new_user_group], [true, true]);
        assert.notEqual(theirs.json.user_group.token, ours.json.user_group.token);
        assert.notEqual(theirs.json.user_group.team_id, ours.json.user_group.team_id);
        const before = await stored(id);
        await service.put({ user_group_id: id, name: 'Theirs still' }, { token: stranger });
        await service.post({ current_token: theirs.json.user_group.token }, { token: stranger });
        assert.deepEqual(await stored(id), before);
      });
    });
  }

  it('tags a group with the environment of the API token that created it', async () => {
    for (const environment of ['Customer', 'Testing'] as const) {
      const { token } = await service.apiToken({ environment });
      const created = await service.get({ user_group_id: 'tagged', name: 'Tagged' }, { token });
      const updated = await service.put({ user_group_id: 'tagged', name: 'New' }, { token });
      const rotated = await service.post({ current_token: created.json.user_group.token }, { token });
      assert.equal(updated.json.user_group.api_environment_tag, environment);
      assert.equal(rotated.json.user_group.api_environment_tag, environment);
    }
  });

  it('holds one group of an id within an environment, whichever API token asks', async () => {
    const { token: second } = await service.apiToken();
    const created = await service.get({ user_group_id: 'one', name: 'One' });
    const found = await service.get({ user_group_id: 'one', name: 'One' }, { token: second });
    assert.deepEqual(found.json, { ...created.json, new_user_group: false });
  });

  it('gives no team_id twice, in any workspace or environment and across restarts', async () => {
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

    const calls: Record<string, (more: { token: string }) => Promise<TestAnswer>> = {
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
      'PUT a body that is not right': (as) => service.put({ nonsense: 1 }, as),
      'POST a token to rotate': (as) => service.post({ current_token: token }, as),
      'read a group': (as) => service.call('GET', '/v1/user-groups/there', undefined, as),
      'PATCH a group': (as) => service.call('PATCH', '/v1/user-groups/there', { name: 'Changed' }, as),
      'PATCH a group with nothing': (as) => service.call('PATCH', '/v1/user-groups/there', {}, as),
      'DELETE a group': (as) => service.call('DELETE', '/v1/user-groups/there', undefined, as),
      'DELETE a missing group': (as) => service.call('DELETE', '/v1/user-groups/missing', undefined, as),
      'list the groups': (as) => service.call('GET', '/v1/user-groups', undefined, as),
      'resolve a token': (as) => service.resolve(token, as),
    };

    const expected: Record<Exclude<Permission, 'read-write'>, number[]> = {
      'read-only': [200, 200, 404, 403, 200, 403, 403, 403, 403, 200, 403, 403, 403, 403, 200, 200],
      resolve: [...new Array<number>(15).fill(403), 200],
    };

    for (const [permission, statuses] of Object.entries(expected)) {
      for (const [index, [what, call]] of Object.entries(calls).entries()) {
        const status = statuses[index];
        it(`${permission}: ${what} is answered ${status}, and nothing changes`, async () => {
          const before = await stored('there');
          const apiToken = await service.apiToken({ permission: permission as Permission });
          const answer = await call({ token: apiToken.token });
          assert.equal(answer.status, status);
          if (status === 403) assert.equal(answer.json.code, 'permission_denied');
          assert.deepEqual(await stored('there'), before);
          assert.equal((await service.get({ user_group_id: 'missing' })).status, 404);
        });
      }
    }

    it('shows tokens to read-only through get-or-create alone, and to resolve through no call', async () => {
      const showing: Record<string, string[]> = {};
      for (const permission of Object.keys(expected) as Permission[]) {
        const as = { token: (await service.apiToken({ permission })).token };
        showing[permission] = [];
        for (const [what, call] of Object.entries(calls)) {
          if ((await call(as)).text.includes(token)) showing[permission].push(what);
        }
      }
      assert.deepEqual(showing, {
        'read-only': [
          'GET a group that exists',
          'GET a group that exists, with other fields',
          'POST /v1/user-groups of a group that exists',
        ],
        resolve: [],
      });
    });

    it('read-write may do everything', async () => {
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

    it('says what is missing where it does not suffice', async () => {
      const as = { token: (await service.apiToken({ permission: 'resolve' })).token };
      const { json } = await service.put({ user_group_id: 'there' }, as);
      assert.match(json.detail, /permission resolve may not update user groups; this needs read-write/);
    });
  });
});

// SQLite has one serving process.
describe('two services on one database (PostgreSQL)', () => {
  it('create one group of an id between them, and give no team_id twice', async () => {
    const first = await TestService.start(postgres);
    const second = await TestService.start(postgres, { database: first.database });
    try {
      const ids = new Set<number>();
      for (let round = 0; round < 20; round++) {
        const body = { user_group_id: `race-${round}`, name: 'Race' };
        const calls = [first, second, first, second].map((service) => service.get(body));
        const answers = (await Promise.all(calls)).map(({ json }) => json);
        assert.equal(answers.filter(({ new_user_group }) => new_user_group).length, 1);
        assert.equal(new Set(answers.map(({ user_group }) => user_group.token)).size, 1);
        ids.add(answers[0]?.user_group.team_id);
      }
      assert.equal(ids.size, 20);
    } finally {
      await second.stop();
      await first.end();
    }
  });
});
