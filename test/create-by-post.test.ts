// Contract: POST /v1/user-groups is get or create for clients that cannot send a body with GET.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOnEachDatabase } from './database.ts';
import type { TestAnswer, TestRequest } from './http.ts';
import { TestService } from './service.ts';

describeOnEachDatabase('POST /v1/user-groups', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  function create(body: unknown, more: Pick<TestRequest, 'token' | 'headers'> = {}): Promise<TestAnswer> {
    return service.call('POST', '/v1/user-groups', body, more);
  }

  it('creates with 201 and answers with the fields of the specification, in its order and no others', async () => {
    const answer = await create('{"user_group_id":"bytes","name":"Bytes","properties":{"b":1.10,"a":[]}}');
    assert.equal(answer.status, 201);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    const { team_id, token } = answer.json.user_group;
    assert.equal(
      answer.text,
      `{"success":1,"new_user_group":true,"user_group":{"team_id":${team_id},"token":"${token}",` +
        '"name":"Bytes","provided_id":"bytes","properties":{"b":1.10,"a":[]}}}',
    );
  });

  it('gets with 200, and answers as GET /api/user does, byte for byte and header for header', async () => {
    await create({ user_group_id: 'same', name: 'Same', properties: { a: 1 } });
    const bodies = [
      { user_group_id: 'same' },
      { user_group_id: 'same', properties: null },
      { user_group_id: 'same', name: 'Other', mapping: {}, properties: {} },
    ];
    for (const body of bodies) {
      const answer = await create(body);
      const expected = await service.get(body);
      assert.equal(answer.status, 200);
      assert.equal(answer.text, expected.text);
      for (const header of ['etag', 'user-group-drift', 'cache-control', 'content-type']) {
        assert.equal(answer.headers[header], expected.headers[header], header);
      }
    }
  });

  it('changes nothing of a group that exists, and lists what differs', async () => {
    const body = { user_group_id: 'there', name: 'There', properties: { plan: 'gold' } };
    const created = await create(body);
    const answer = await create({ ...body, name: 'Other', mapping: { 1: 2 }, properties: {} });
    assert.equal(answer.headers['user-group-drift'], 'name, mapping, properties');
    assert.deepEqual(answer.json, { ...created.json, new_user_group: false });
    assert.equal(answer.headers.etag, created.headers.etag);
  });

  it('is a pure look-up without a name: 404, and nothing is created', async () => {
    for (let time = 0; time < 2; time++) {
      const answer = await create({ user_group_id: 'nameless' });
      assert.deepEqual([answer.status, answer.json.code], [404, 'user_group_not_found']);
      assert.match(answer.json.detail, /name.*create/);
    }
  });

  it('lets exactly one of many parallel first calls create, whichever of the two calls it is', async () => {
    const body = { user_group_id: 'race', name: 'Race' };
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? create(body) : service.get(body))),
    );
    assert.equal(answers.filter(({ json }) => json.new_user_group === true).length, 1);
    assert.equal(new Set(answers.map(({ json }) => json.user_group.token)).size, 1);
    for (const [index, { status, json }] of answers.entries()) {
      assert.equal(status, index % 2 === 0 && json.new_user_group ? 201 : 200);
    }
  });

  it('refuses the same bodies in the same words, under the same pointers', async () => {
    const bodies = [
      {},
      { user_group_id: 7 },
      { user_group_id: 'x', nmae: 'X' },
      { user_group_id: 'x', mapping: { a: null } },
      '{"user_group_id":"x","user_group_id":"y"}',
    ];
    for (const body of bodies) {
      const answer = await create(body);
      const expected = await service.get(body);
      assert.equal(answer.status, 400);
      assert.deepEqual({ ...answer.json, request_id: '' }, { ...expected.json, request_id: '' });
    }
  });

  it('does not blame a missing body on GET', async () => {
    const answer = await create(undefined);
    assert.deepEqual([answer.status, answer.json.code], [400, 'body_missing']);
    assert.doesNotMatch(answer.json.detail, /GET/);
  });
});
