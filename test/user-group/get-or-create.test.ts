// Contract: GET /api/user gets or creates a user group.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';

const TOKEN = /^ugt_[0-9A-Za-z]{52}$/;

describeOnEachDatabase('GET /api/user', (database) => {
  const service = TestService.of(database);

  describe('if the group does not exist', () => {
    it('creates it and returns new_user_group true if the request has a name', async () => {
      const response = await service.get({ user_group_id: 'new-1', name: 'Acme' });
      assert.equal(response.status, 200);
      assert.equal(response.json.success, 1);
      assert.equal(response.json.new_user_group, true);
      assert.match(response.json.user_group.token, TOKEN);
      assert.equal(response.json.user_group.name, 'Acme');
      assert.equal(response.json.user_group.provided_id, 'new-1');
    });

    it('returns 404 without a name and creates nothing; the detail says that a name would create it', async () => {
      for (let time = 0; time < 2; time++) {
        const response = await service.get({ user_group_id: 'nameless' });
        assert.equal(response.status, 404);
        assert.equal(response.json.code, 'user_group_not_found');
        assert.match(response.json.detail, /name.*create/);
      }
    });

    it('treats a null mapping and null properties as absent', async () => {
      const response = await service.get({
        user_group_id: 'new-nulls',
        name: 'A',
        mapping: null,
        properties: null,
      });
      assert.equal(response.json.new_user_group, true);
      assert.equal(response.json.user_group.properties, null);
      const resolved = await service.resolve(response.json.user_group.token);
      assert.equal(resolved.json.user_group.mapping, null);
    });

    it('creates the group once for 200 parallel first calls and returns the same token to all', async () => {
      const calls = Array.from({ length: 200 }, () => service.get({ user_group_id: 'race', name: 'Race' }));
      const responses = await Promise.all(calls);
      assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
      assert.equal(responses.filter(({ json }) => json.new_user_group === true).length, 1);
      assert.equal(new Set(responses.map(({ json }) => json.user_group.token)).size, 1);
      assert.equal(new Set(responses.map(({ json }) => json.user_group.team_id)).size, 1);
    });
  });

  it('returns the drift to each parallel first call that did not create the group', async () => {
    const calls = Array.from({ length: 50 }, (_, index) =>
      service.get({ user_group_id: 'race of names', name: `Name ${index}`, properties: { index } }),
    );
    const responses = await Promise.all(calls);
    const [created, ...others] = responses.toSorted((a, b) => b.json.new_user_group - a.json.new_user_group);
    assert.deepEqual([created!.json.new_user_group, created!.headers['user-group-drift']], [true, undefined]);
    for (const { json, headers } of others) {
      assert.deepEqual([json.new_user_group, headers['user-group-drift']], [false, 'name, properties']);
    }
  });

  describe('if the group exists', () => {
    const stored = {
      user_group_id: 'there',
      name: 'There',
      mapping: { 40: '213' },
      properties: { plan: 'gold', seats: 3 },
    };
    before(() => service.get(stored));

    it('returns the stored group unchanged, with new_user_group false', async () => {
      const first = await service.get({ user_group_id: 'there' });
      const other = { ...stored, name: 'Other', mapping: { 1: 2 }, properties: { plan: 'lead' } };
      const response = await service.get(other);
      assert.equal(response.status, 200);
      assert.equal(response.json.new_user_group, false);
      assert.equal(response.json.user_group.name, 'There');
      assert.deepEqual(response.json.user_group.properties, stored.properties);
      assert.equal(response.json.user_group.token, first.json.user_group.token);
      assert.equal(response.headers.etag, first.headers.etag);
      const resolved = await service.resolve(response.json.user_group.token);
      assert.deepEqual(resolved.json.user_group.mapping, stored.mapping);
    });

    it('lists the sent fields that differ from the stored ones in User-Group-Drift', async () => {
      const drift = async (fields: object) =>
        (await service.get({ user_group_id: 'there', ...fields })).headers['user-group-drift'];
      assert.equal(await drift({}), undefined);
      assert.equal(await drift(stored), undefined);
      assert.equal(await drift({ name: 'Other' }), 'name');
      assert.equal(await drift({ mapping: { 40: '214' } }), 'mapping');
      assert.equal(await drift({ properties: null }), 'properties');
      assert.equal(
        await drift({ name: 'Other', mapping: null, properties: {} }),
        'name, mapping, properties',
      );
    });

    it('treats a number and its string in a mapping as different values, as an update does', async () => {
      const group = (mapping: object) => ({ user_group_id: 'typed', name: 'Typed', mapping });
      const created = await service.get(group({ 40: '213' }));
      const drifted = await service.get(group({ 40: 213 }));
      assert.equal(drifted.headers['user-group-drift'], 'mapping');
      const updated = await service.put(group({ 40: 213 }));
      assert.notEqual(updated.headers.etag, created.headers.etag);
      assert.equal((await service.get(group({ 40: 213 }))).headers['user-group-drift'], undefined);
      assert.equal((await service.get(group({ 40: '213' }))).headers['user-group-drift'], 'mapping');
    });

    it('treats an empty object and null as different values, as an update does', async () => {
      for (const field of ['mapping', 'properties']) {
        const id = `empty-${field}`;
        const group = (value: unknown) => ({ user_group_id: id, name: 'Empty', [field]: value });
        const created = await service.get(group({}));
        assert.equal((await service.get(group(null))).headers['user-group-drift'], field);
        const cleared = await service.put(group(null));
        assert.notEqual(cleared.headers.etag, created.headers.etag);
        assert.equal((await service.get(group(null))).headers['user-group-drift'], undefined);
        assert.equal((await service.get(group({}))).headers['user-group-drift'], field);
        const stored = (await service.call('GET', `/v1/user-groups/${id}`)).json.user_group;
        assert.equal(stored[field], null);
      }
    });

    it('ignores the order of keys and white space', async () => {
      const body = '{"user_group_id":"there","properties": { "seats" : 3, "plan": "gold" } }';
      assert.equal((await service.get(body)).headers['user-group-drift'], undefined);
    });
  });

  it('returns properties only if the request has the key', async () => {
    await service.get({ user_group_id: 'shown', name: 'Shown', properties: { a: 1 } });
    const without = await service.get({ user_group_id: 'shown' });
    assert.equal('properties' in without.json.user_group, false);
    const withNull = await service.get({ user_group_id: 'shown', properties: null });
    assert.deepEqual(withNull.json.user_group.properties, { a: 1 });
    await service.get({ user_group_id: 'bare', name: 'Bare' });
    const bare = await service.get({ user_group_id: 'bare', properties: {} });
    assert.equal(bare.json.user_group.properties, null);
  });

  it('returns exactly the specified fields in the specified order', async () => {
    const created = await service.get(
      '{"user_group_id":"bytes","name":"Bytes \\u00e9","properties":{"b":1.10,"a":[]}}',
    );
    const { team_id, token } = created.json.user_group;
    assert.equal(
      created.text,
      `{"success":1,"new_user_group":true,"user_group":{"team_id":${team_id},"token":"${token}",` +
        '"name":"Bytes é","provided_id":"bytes","properties":{"b":1.10,"a":[]}}}',
    );
    const found = await service.get({ user_group_id: 'bytes' });
    assert.equal(
      found.text,
      `{"success":1,"new_user_group":false,"user_group":{"team_id":${team_id},"token":"${token}",` +
        '"name":"Bytes é","provided_id":"bytes"}}',
    );
  });

  it('returns uncompressed JSON, whatever the request accepts', async () => {
    const headers = { accept: 'application/xml, text/html', 'accept-encoding': 'gzip, br, zstd' };
    for (const [body, status, type] of [
      [{ user_group_id: 'accepted', name: 'A', properties: { text: 'x'.repeat(10_000) } }, 200, 'json'],
      [{ user_group_id: 'missing' }, 404, 'problem+json'],
    ] as const) {
      const response = await service.get(body, { headers });
      assert.equal(response.status, status);
      assert.equal(response.headers['content-type'], `application/${type}; charset=utf-8`);
      assert.equal(response.headers['content-encoding'], undefined);
    }
  });

  it('is also served at /api/user/ with a trailing slash, like the update and the rotation', async () => {
    const call = (method: string, body: object) => service.call(method, '/api/user/', body);
    const created = await call('GET', { user_group_id: 'slash', name: 'Slash' });
    assert.equal(created.json.new_user_group, true);
    const updated = await call('PUT', { user_group_id: 'slash', name: 'Changed' });
    assert.deepEqual([updated.status, updated.json.user_group.name], [200, 'Changed']);
    const { token } = created.json.user_group;
    const rotated = await call('POST', { current_token: token });
    assert.equal(rotated.status, 200);
    assert.notEqual(rotated.json.user_group.token, token);
  });

  it('assigns each group a unique positive team_id below 2^53', async () => {
    const calls = Array.from({ length: 50 }, (_, index) =>
      service.get({ user_group_id: `team-${index}`, name: 'T' }),
    );
    const ids = (await Promise.all(calls)).map(({ json }) => json.user_group.team_id);
    assert.equal(new Set(ids).size, 50);
    assert.ok(ids.every((id) => Number.isSafeInteger(id) && id > 0));
  });
});
