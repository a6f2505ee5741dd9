// Contract: POST /v1/user-groups is get-or-create for clients that cannot send a body with GET.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('POST /v1/user-groups', (database) => {
  const service = TestService.of(database);

  function create(body: unknown, more: Pick<TestRequest, 'token' | 'headers'> = {}): Promise<TestResponse> {
    return service.call('POST', '/v1/user-groups', body, more);
  }

  it('creates the group with 201 and returns exactly the specified fields in the specified order', async () => {
    const response = await create('{"user_group_id":"bytes","name":"Bytes","properties":{"b":1.10,"a":[]}}');
    assert.equal(response.status, 201);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    const { team_id, token } = response.json.user_group;
    assert.equal(
      response.text,
      `{"success":1,"new_user_group":true,"user_group":{"team_id":${team_id},"token":"${token}",` +
        '"name":"Bytes","provided_id":"bytes","properties":{"b":1.10,"a":[]}}}',
    );
  });

  it('returns an existing group with 200, with the same bytes and headers as GET /api/user', async () => {
    await create({ user_group_id: 'same', name: 'Same', properties: { a: 1 } });
    const bodies = [
      { user_group_id: 'same' },
      { user_group_id: 'same', properties: null },
      { user_group_id: 'same', name: 'Other', mapping: {}, properties: {} },
    ];
    for (const body of bodies) {
      const response = await create(body);
      const expected = await service.get(body);
      assert.equal(response.status, 200);
      assert.equal(response.text, expected.text);
      for (const header of ['etag', 'user-group-drift', 'cache-control', 'content-type']) {
        assert.equal(response.headers[header], expected.headers[header], header);
      }
    }
  });

  it('does not change an existing group, and lists the fields that differ', async () => {
    const body = { user_group_id: 'there', name: 'There', properties: { plan: 'gold' } };
    const created = await create(body);
    const response = await create({ ...body, name: 'Other', mapping: { 1: 2 }, properties: {} });
    assert.equal(response.headers['user-group-drift'], 'name, mapping, properties');
    assert.deepEqual(response.json, { ...created.json, new_user_group: false });
    assert.equal(response.headers.etag, created.headers.etag);
  });

  it('is a pure lookup without a name: returns 404 and creates nothing', async () => {
    for (let time = 0; time < 2; time++) {
      const response = await create({ user_group_id: 'nameless' });
      assert.deepEqual([response.status, response.json.code], [404, 'user_group_not_found']);
      assert.match(response.json.detail, /name.*create/);
    }
  });

  it('creates the group once for parallel first calls of POST and GET', async () => {
    const body = { user_group_id: 'race', name: 'Race' };
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? create(body) : service.get(body))),
    );
    assert.equal(responses.filter(({ json }) => json.new_user_group === true).length, 1);
    assert.equal(new Set(responses.map(({ json }) => json.user_group.token)).size, 1);
    for (const [index, { status, json }] of responses.entries()) {
      assert.equal(status, index % 2 === 0 && json.new_user_group ? 201 : 200);
    }
  });

  it('rejects the same bodies as GET /api/user, with the same details and pointers', async () => {
    const bodies = [
      {},
      { user_group_id: 7 },
      { user_group_id: 'x', nmae: 'X' },
      { user_group_id: 'x', mapping: { a: null } },
      '{"user_group_id":"x","user_group_id":"y"}',
    ];
    for (const body of bodies) {
      const response = await create(body);
      const expected = await service.get(body);
      assert.equal(response.status, 400);
      assert.deepEqual({ ...response.json, request_id: '' }, { ...expected.json, request_id: '' });
    }
  });

  it('does not mention GET if the body is missing', async () => {
    const response = await create(undefined);
    assert.deepEqual([response.status, response.json.code], [400, 'body_missing']);
    assert.doesNotMatch(response.json.detail, /GET/);
  });
});
