// Contract: POST /v1/resolve returns the group of a token that a viewer presents.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { computeBucket } from '../../src/domain/bucket.ts';
import { mintUserGroupToken } from '../../src/domain/token.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('POST /v1/resolve', (database) => {
  const service = TestService.of(database);

  async function createGroup(id: string): Promise<{ token: string; teamId: number }> {
    const { user_group } = (await service.get({ user_group_id: id, name: 'Acme' })).json;
    return { token: user_group.token, teamId: user_group.team_id };
  }

  it('returns exactly the specified fields in the specified order for a current token', async () => {
    const created = await service.get(
      '{"user_group_id":"full","name":"Fu\\u0308ll","mapping":{"b":"x","a":40},"properties":{"b":1.10,"a":[]}}',
    );
    const { token, team_id } = created.json.user_group;
    const response = await service.resolve(token);
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(
      response.text,
      `{"success":1,"user_group":{"team_id":${team_id},"provided_id":"full","name":"Fu\u0308ll",` +
        '"properties":{"b":1.10,"a":[]},"mapping":{"b":"x","a":40},"api_environment_tag":"Customer"},' +
        '"token":{"status":"current","expires_at":null}}',
    );
  });

  it('returns null for absent properties and mapping, and the expiry of a retiring token', async () => {
    const { token, teamId } = await createGroup('bare');
    await service.post({ current_token: token, grace_period_seconds: 60 });
    const response = await service.resolve(token);
    const expiresAt = response.json.token.expires_at;
    assert.match(expiresAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(
      response.text,
      `{"success":1,"user_group":{"team_id":${teamId},"provided_id":"bare","name":"Acme",` +
        '"properties":null,"mapping":null,"api_environment_tag":"Customer"},' +
        `"token":{"status":"retiring","expires_at":"${expiresAt}"}}`,
    );
  });

  it('resolves a token at any later time, because current tokens do not expire', async () => {
    const { token } = await createGroup('lasting');
    service.clockAheadMs = 50 * 365 * 24 * 3_600_000;
    try {
      const response = await service.resolve(token);
      assert.deepEqual(response.json.token, { status: 'current', expires_at: null });
    } finally {
      service.clockAheadMs = 0;
    }
  });

  it('returns the tag of the environment', async () => {
    const { token: apiToken } = await service.apiToken({ environment: 'Testing' });
    const created = await service.get({ user_group_id: 'tag', name: 'Tag' }, { token: apiToken });
    const response = await service.resolve(created.json.user_group.token, { token: apiToken });
    assert.equal(response.json.user_group.api_environment_tag, 'Testing');
  });

  it('never returns the token itself', async () => {
    const { token } = await createGroup('hidden');
    assert.equal((await service.resolve(token)).text.includes(token), false);
  });

  it('returns the same 404 for an unknown, replaced, malformed or foreign token', async () => {
    const { token } = await createGroup('refused');
    const rotated = await service.post({ current_token: token });
    const current = rotated.json.user_group.token;
    const other = await service.apiToken({ workspaceName: 'other' });
    const testing = await service.apiToken({ environment: 'Testing' });
    const responses = {
      unknown: await service.resolve(mintUserGroupToken(computeBucket(1, 'Customer', 'missing')).reveal()),
      replaced: await service.resolve(token),
      malformed: await service.resolve('not a token'),
      'in lower case': await service.resolve(current.toLowerCase()),
      'white space after it': await service.resolve(`${current}\n`),
      'an API token': await service.resolve(service.token),
      'another workspace': await service.resolve(current, { token: other.token }),
      'another environment': await service.resolve(current, { token: testing.token }),
    };
    const texts = new Set<string>();
    for (const [reason, response] of Object.entries(responses)) {
      assert.deepEqual([response.status, response.json.code], [404, 'user_group_token_not_found'], reason);
      texts.add(JSON.stringify({ ...response.json, request_id: '' }));
    }
    assert.equal(texts.size, 1);
  });

  it('returns 400 if the token is missing, empty, null or not a string', async () => {
    for (const body of [{}, { token: '' }, { token: null }, { token: 7 }, { token: ['x'] }]) {
      const response = await service.call('POST', '/v1/resolve', body);
      assert.deepEqual([response.status, response.json.code], [400, 'invalid_request'], JSON.stringify(body));
      assert.equal(response.json.errors[0].pointer, '/token');
    }
  });

  it('rejects an unknown field, and suggests the closest known one', async () => {
    const response = await service.call('POST', '/v1/resolve', { tokn: 'x' });
    assert.deepEqual([response.status, response.json.code], [400, 'unknown_field']);
    assert.match(response.json.detail, /tokn is not a known field \(did you mean token\?\)/);
  });

  it('changes nothing', async () => {
    const { token } = await createGroup('unchanged');
    const before = await service.get({ user_group_id: 'unchanged' });
    await service.resolve(token);
    const found = await service.get({ user_group_id: 'unchanged' });
    assert.equal(found.text, before.text);
    assert.equal(found.headers.etag, before.headers.etag);
  });

  it('returns each of many parallel callers its own result', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `parallel-${index}`);
    const groups = await Promise.all(ids.map((id) => createGroup(id)));
    const responses = await Promise.all(
      groups.flatMap(({ token }, index) => [service.resolve(token), service.resolve(`junk ${index}`)]),
    );
    assert.deepEqual(
      responses.map(({ json }) => json.user_group?.provided_id ?? json.code),
      ids.flatMap((id) => [id, 'user_group_token_not_found']),
    );
  });
});
