// Contract: PUT /v1/user-groups/{user_group_id} creates or replaces a user group in one atomic call.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';
import { unlessStarved } from '../support/starvation.ts';

const PARALLEL = 50;

describeOnEachDatabase('PUT /v1/user-groups/{user_group_id}', (database) => {
  const service = TestService.of(database);

  function put(
    id: string,
    body: unknown,
    more: Pick<TestRequest, 'token' | 'headers'> = {},
  ): Promise<TestResponse> {
    return service.call('PUT', `/v1/user-groups/${id}`, body, more);
  }

  it('creates a group that does not exist, with 201 and the response of the read', async () => {
    const created = await put('new', '{"name":"New","mapping":{"40":"213"},"properties":{"n":1.10}}');
    assert.equal(created.status, 201);
    const stored = await service.read('new');
    assert.equal(created.text, stored.text);
    assert.equal(created.headers.etag, stored.headers.etag);
    assert.match(created.text, /"mapping":\{"40":"213"\},"properties":\{"n":1\.10\}/);
    assert.equal(created.json.user_group.version, 1);
  });

  it('replaces all fields of an existing group, with 200, and keeps its token', async () => {
    const before = (await put('old', { name: 'Old', mapping: { 1: 2 }, properties: { a: 1 } })).json
      .user_group;
    const replaced = await put('old', { name: 'Newer', properties: { b: 2 } });
    assert.equal(replaced.status, 200);
    const { name, mapping, properties, token, team_id, version } = replaced.json.user_group;
    assert.deepEqual([name, mapping, properties], ['Newer', null, { b: 2 }]);
    assert.deepEqual([token, team_id, version], [before.token, before.team_id, 2]);
    assert.equal((await put('old', { name: 'Newest' })).json.user_group.properties, null);
  });

  it('changes nothing, not even the version, if it is repeated', async () => {
    const body = { name: 'Same', mapping: { 1: 'a' }, properties: null };
    const first = await put('same', body);
    const second = await put('same', body);
    assert.deepEqual([first.status, second.status], [201, 200]);
    assert.equal(second.text, first.text);
    assert.equal(second.headers.etag, first.headers.etag);
  });

  it('requires a name, and rejects an id in the body', async () => {
    assertProblem(await put('bad', { properties: {} }), 'invalid_request');
    assertProblem(await put('bad', { name: 'A', user_group_id: 'bad' }), 'unknown_field');
    assertProblem(await put('bad', undefined), 'body_missing');
    assertProblem(await service.read('bad'), 'user_group_not_found');
  });

  it('creates one group of concurrent calls, all of which succeed', async () => {
    const bodies = Array.from({ length: PARALLEL }, (_, index) => ({ name: `Name ${index}` }));
    const responses = await Promise.all(bodies.map((body) => put('raced', body)));
    assert.equal(responses.filter(({ status }) => status === 201).length, 1);
    assert.equal(responses.filter(({ status }) => status === 200).length, PARALLEL - 1);
    assert.equal(new Set(responses.map(({ json }) => json.user_group.token)).size, 1);
    assert.equal((await service.read('raced')).json.user_group.version, PARALLEL);
  });

  it('creates no group with If-Match, and one of concurrent calls with If-None-Match: *', async () => {
    const ifMatch = { headers: { 'if-match': '*' } };
    assertProblem(await put('raced-once', { name: 'A' }, ifMatch), 'version_mismatch');
    const responses = await Promise.all(
      Array.from({ length: PARALLEL }, () =>
        put('raced-once', { name: 'A' }, { headers: { 'if-none-match': '*' } }),
      ),
    );
    const statuses = responses.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...new Array(PARALLEL - 1).fill(412)]);
  });

  it('succeeds while other calls delete the group', async () => {
    const race = async () => {
      await service.call('DELETE', '/v1/user-groups/flickering');
      return await Promise.all(
        Array.from({ length: PARALLEL }, async (_, index) => {
          const deleting = service.call('DELETE', '/v1/user-groups/flickering');
          const response = await put('flickering', { name: `Name ${index}` });
          return [response, await deleting] as const;
        }),
      );
    };
    // The outcome of a call that a busy machine delays too long is unknown.
    const responses = await unlessStarved(race, (all) =>
      all.flat().some(({ json }) => json?.code === 'database_unavailable'),
    );
    for (const [{ status, text }, deleted] of responses) {
      assert.ok(status === 200 || status === 201, text);
      assert.ok(deleted.status === 204 || deleted.status === 404, deleted.text);
    }
    const created = responses.filter(([{ status }]) => status === 201).length;
    const deleted = responses.filter(([, { status }]) => status === 204).length;
    const isLeft = (await service.read('flickering')).status === 200;
    assert.equal(created - deleted, isLeft ? 1 : 0);
  });
});
