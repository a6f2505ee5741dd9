// Contract: POST /v1/user-groups/{user_group_id}/suspend and /resume: a suspended group keeps everything, but
// its tokens resolve to nothing.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { computeBucket } from '../../src/domain/bucket.ts';
import { memberChanges } from '../../src/domain/event/changes.ts';
import { mintUserGroupToken } from '../../src/domain/token.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('POST /v1/user-groups/{user_group_id}/suspend and /resume', (database) => {
  const service = TestService.of(database);

  type More = Pick<TestRequest, 'token' | 'headers'>;

  function change(action: string, id: string, more: More = {}, body?: unknown): Promise<TestResponse> {
    return service.call('POST', `/v1/user-groups/${id}/${action}`, body, more);
  }

  /** Creates a group, and returns its token. */
  async function create(id: string): Promise<string> {
    const { json } = await service.get({ user_group_id: id, name: 'Acme', properties: { a: 1 } });
    return json.user_group.token;
  }

  it('tells get or create in a header that the token of the group does not resolve', async () => {
    await create('told');
    const calls = [
      () => service.get({ user_group_id: 'told', name: 'Acme' }),
      () => service.call('POST', '/v1/user-groups', { user_group_id: 'told', name: 'Acme' }),
    ];
    const headers = async () =>
      (await Promise.all(calls.map((call) => call()))).map(
        (response) => response.headers['user-group-suspended'],
      );
    assert.deepEqual(await headers(), [undefined, undefined]);
    await change('suspend', 'told');
    assert.deepEqual(await headers(), ['true', 'true']);
    await change('resume', 'told');
    assert.deepEqual(await headers(), [undefined, undefined]);
  });

  it('suspends and resumes a group, and responds like the read', async () => {
    const token = await create('plain');
    assert.equal((await service.read('plain')).json.user_group.suspended, false);
    for (const [action, suspended, version] of [
      ['suspend', true, 2],
      ['resume', false, 3],
    ] as const) {
      assertProblem(await change(action, 'unknown'), 'user_group_not_found');
      const changed = await change(action, 'plain');
      assert.equal(changed.status, 200, changed.text);
      const stored = await service.read('plain');
      assert.equal(changed.text, stored.text);
      assert.equal(changed.headers.etag, stored.headers.etag);
      assert.deepEqual(
        [stored.json.user_group.suspended, stored.json.user_group.version, stored.json.user_group.token],
        [suspended, version, token],
      );
    }
  });

  it('rejects the current and the retiring token exactly like an unknown one until the group is resumed', async () => {
    const retiring = await create('rejected');
    const { json } = await service.post({ current_token: retiring, grace_period_seconds: 3_600 });
    const current: string = json.user_group.token;
    await change('suspend', 'rejected');
    const unknown = mintUserGroupToken(computeBucket(1, 'Customer', 'missing')).reveal();
    const responses = await Promise.all([current, retiring, unknown].map((token) => service.resolve(token)));
    for (const response of responses) assertProblem(response, 'user_group_token_not_found');
    const texts = responses.map((response) => JSON.stringify({ ...response.json, request_id: '' }));
    assert.equal(new Set(texts).size, 1);
    await change('resume', 'rejected');
    assert.deepEqual(
      [await service.tokenStatus(current), await service.tokenStatus(retiring)],
      ['current', 'retiring'],
    );
  });

  it('takes effect in the other process with its next request, and outlasts a restart', async () => {
    const token = await create('everywhere');
    if (database.name === 'SQLite') {
      await change('suspend', 'everywhere');
      await service.restart();
      assert.equal(await service.tokenStatus(token), 'user_group_token_not_found');
      return;
    }
    const other = await TestService.start(database, { database: service.database });
    try {
      for (let round = 0; round < 10; round++) {
        assert.equal(await other.tokenStatus(token, { token: service.token }), 'current');
        await change('suspend', 'everywhere');
        assert.equal(await other.tokenStatus(token, { token: service.token }), 'user_group_token_not_found');
        await change('resume', 'everywhere');
      }
    } finally {
      await other.stop();
    }
  });

  it('keeps the group readable, editable and rotatable, and get-or-create returns it', async () => {
    const token = await create('usable');
    await change('suspend', 'usable');
    const found = await service.get({ user_group_id: 'usable', name: 'Acme' });
    const { team_id } = found.json.user_group;
    assert.equal(
      found.text,
      `{"success":1,"new_user_group":false,"user_group":{"team_id":${team_id},"token":"${token}","name":"Acme","provided_id":"usable"}}`,
    );
    const changes = [
      await service.put({ user_group_id: 'usable', name: 'Updated' }),
      await service.call('PATCH', '/v1/user-groups/usable', { properties: { b: 2 } }),
      await service.call('PUT', '/v1/user-groups/usable', { name: 'Replaced' }),
      await service.call('POST', '/v1/user-groups/usable/rotate', { grace_period_seconds: 60 }),
    ];
    for (const { status, text } of changes) assert.equal(status, 200, text);
    const { suspended, name, token: rotated } = (await service.read('usable')).json.user_group;
    assert.deepEqual([suspended, name], [true, 'Replaced']);
    assert.notEqual(rotated, token);
    const next = (await service.post({ current_token: rotated })).json.user_group.token;
    for (const each of [token, rotated, next])
      assert.equal(await service.tokenStatus(each), 'user_group_token_not_found');
    await change('resume', 'usable');
    assert.equal(await service.tokenStatus(next), 'current');
  });

  it('is idempotent: a repeated call keeps the version and the time of the change', async () => {
    await create('repeated');
    for (const action of ['suspend', 'resume']) {
      const first = await change(action, 'repeated');
      const second = await change(action, 'repeated');
      assert.equal(second.text, first.text);
      assert.equal(second.headers.etag, first.headers.etag);
    }
  });

  it('keeps the time of the suspension if an import suspends the group again and changes its name', async () => {
    await create('imported');
    await change('suspend', 'imported');
    const { store, clock } = service.app.context;
    const key = store.userGroupKey({ workspaceId: 1, environment: 'Customer' }, 'imported');
    const { suspendedAt } = (await store.read({ kind: 'findUserGroup', key }))!;
    const later = clock() + 60_000;
    const fields = { name: 'Imported', suspendedAt: later, now: later };
    const updated = await store.write({ kind: 'updateUserGroup', key, ...fields });
    assert.ok(typeof updated === 'object');
    assert.deepEqual([updated.name, updated.suspendedAt], ['Imported', suspendedAt]);
  });

  it('resumes only the version that If-Match names', async () => {
    await create('versioned');
    const etag = String((await service.read('versioned')).headers.etag);
    const suspended = await change('suspend', 'versioned');
    const ifMatch = (tag: string) => ({ headers: { 'if-match': tag } });
    assertProblem(await change('resume', 'versioned', ifMatch(etag)), 'version_mismatch');
    assert.equal((await change('resume', 'versioned', ifMatch(suspended.headers.etag!))).status, 200);
  });

  it('records an event for each change, and none for a call that changes nothing', async () => {
    await create('recorded');
    for (const action of ['suspend', 'suspend', 'resume', 'resume']) await change(action, 'recorded');
    const events = await service.eventsAbout({ type: 'user_group', id: 'recorded' });
    assert.deepEqual(
      events.slice(1).map(({ type, version, changes }) => [type, version, changes && memberChanges(changes)]),
      [
        ['user_group.updated', 2, '{"suspended":{"from":false,"to":true}}'],
        ['user_group.updated', 3, '{"suspended":{"from":true,"to":false}}'],
      ],
    );
  });
});
