// Contract: POST /v1/user-groups/{user_group_id}/rotate replaces the token of a group for callers that do not
// hold it.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';

const PARALLEL = 30;

describeOnEachDatabase('POST /v1/user-groups/{user_group_id}/rotate', (database) => {
  const service = TestService.of(database);

  function rotate(
    id: string,
    body?: unknown,
    more: Pick<TestRequest, 'token' | 'headers'> = {},
  ): Promise<TestResponse> {
    return service.call('POST', `/v1/user-groups/${id}/rotate`, body, more);
  }

  /** Creates a group, and returns its token. */
  async function create(id: string): Promise<string> {
    const { json } = await service.get({ user_group_id: id, name: 'Acme', properties: { a: 1 } });
    return json.user_group.token;
  }

  it('replaces the token, and responds like the read', async () => {
    const old = await create('plain');
    const rotated = await rotate('plain');
    assert.equal(rotated.status, 200);
    const stored = await service.read('plain');
    assert.equal(rotated.text, stored.text);
    assert.equal(rotated.headers.etag, stored.headers.etag);
    const { token, version } = rotated.json.user_group;
    assert.notEqual(token, old);
    assert.equal(version, 2);
    assert.deepEqual(
      [await service.tokenStatus(old), await service.tokenStatus(token)],
      ['user_group_token_not_found', 'current'],
    );
  });

  it('accepts an empty body, an empty object and a grace period', async () => {
    const first = await create('grace');
    const second = (await rotate('grace', { grace_period_seconds: 60 })).json.user_group.token;
    assert.deepEqual(
      [await service.tokenStatus(first), await service.tokenStatus(second)],
      ['retiring', 'current'],
    );
    const third = (await rotate('grace', {})).json.user_group.token;
    assert.deepEqual(
      [await service.tokenStatus(first), await service.tokenStatus(second), await service.tokenStatus(third)],
      ['user_group_token_not_found', 'user_group_token_not_found', 'current'],
    );
    assert.equal((await rotate('grace', '')).status, 200);
    assertProblem(await rotate('grace', { grace_period_seconds: -1 }), 'invalid_request');
    assertProblem(await rotate('grace', { current_token: third }), 'unknown_field');
    assertProblem(await rotate('grace', '[]'), 'invalid_request');
    assertProblem(await rotate('unknown'), 'user_group_not_found');
  });

  it('rotates once for each of concurrent calls without If-Match', async () => {
    await create('raced');
    const responses = await Promise.all(Array.from({ length: PARALLEL }, () => rotate('raced')));
    for (const { status, text } of responses) assert.equal(status, 200, text);
    const tokens = new Set(responses.map(({ json }) => json.user_group.token));
    assert.equal(tokens.size, PARALLEL);
    const { token, version } = (await service.read('raced')).json.user_group;
    assert.ok(tokens.has(token));
    assert.equal(version, PARALLEL + 1);
  });
});
