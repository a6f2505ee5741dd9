// Contract: PUT /api/user updates a user group.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('PUT /api/user', (database) => {
  const service = TestService.of(database);

  /** Creates a group with every field; `stored` reads its current state. */
  async function createGroup(id: string) {
    const body = {
      user_group_id: id,
      name: 'Acme',
      mapping: { 40: '213', 41: 7 },
      properties: { plan: 'gold', limits: { seats: 3 } },
    };
    const { token, team_id: teamId } = (await service.get(body)).json.user_group;
    const stored = async () => {
      const { name, mapping, properties } = (await service.resolve(token)).json.user_group;
      return { name, mapping, properties };
    };
    return { body, token, teamId, stored };
  }

  it('returns exactly the specified fields in the specified order', async () => {
    const { token, teamId } = await createGroup('bytes');
    const response = await service.put(
      '{"properties":{"b":1.10,"a":[]},"user_group_id":"bytes","name":"Bytes \\u00e9"}',
    );
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(
      response.text,
      `{"success":1,"user_group":{"team_id":${teamId},"token":"${token}","name":"Bytes é","provided_id":"bytes",` +
        '"properties":{"b":1.10,"a":[]},"api_environment_tag":"Customer"}}',
    );
  });

  describe('a field that is absent', () => {
    const sent = { name: 'New', mapping: { 1: 2 }, properties: { new: true } };
    for (const field of ['name', 'mapping', 'properties'] as const) {
      it(`stays unchanged if only ${field} is sent`, async () => {
        const { body, stored } = await createGroup(`only-${field}`);
        const { user_group_id, ...before } = body;
        const response = await service.put({ user_group_id, [field]: sent[field] });
        assert.equal(response.status, 200);
        assert.deepEqual(await stored(), { ...before, [field]: sent[field] });
      });
    }

    it('stays unchanged if only the id is sent', async () => {
      const { body, stored } = await createGroup('only-id');
      const { user_group_id, ...before } = body;
      const response = await service.put({ user_group_id });
      assert.equal(response.status, 200);
      assert.deepEqual(response.json.user_group.properties, body.properties);
      assert.deepEqual(await stored(), before);
    });
  });

  describe('a field that is present', () => {
    it('replaces the stored field completely, without merging', async () => {
      const { body, stored } = await createGroup('whole');
      const fields = { mapping: { 41: 8 }, properties: { limits: { rows: 9 } } };
      await service.put({ user_group_id: 'whole', ...fields });
      assert.deepEqual(await stored(), { name: body.name, ...fields });
    });

    it('is stored as an empty object if it is one, without clearing', async () => {
      const { stored } = await createGroup('empty');
      const response = await service.put({ user_group_id: 'empty', mapping: {}, properties: {} });
      assert.deepEqual(response.json.user_group.properties, {});
      assert.deepEqual(await stored(), { name: 'Acme', mapping: {}, properties: {} });
    });

    it('clears mapping and properties if it is null', async () => {
      const { stored } = await createGroup('clear');
      await service.put({ user_group_id: 'clear', mapping: null });
      assert.equal((await stored()).mapping, null);
      assert.notEqual((await stored()).properties, null);
      const response = await service.put({ user_group_id: 'clear', properties: null });
      assert.equal(response.json.user_group.properties, null);
      assert.equal((await stored()).properties, null);
    });

    it('cannot clear the name: null is rejected, and nothing changes', async () => {
      const { body, stored } = await createGroup('null-name');
      const { user_group_id, ...before } = body;
      const response = await service.put({ user_group_id, name: null, properties: null });
      assert.deepEqual([response.status, response.json.code], [400, 'invalid_request']);
      assert.deepEqual(response.json.errors, [{ pointer: '/name', detail: 'must be a string' }]);
      assert.deepEqual(await stored(), before);
    });
  });

  it('returns the stored properties whether they were sent or not, and null if there are none', async () => {
    const { body } = await createGroup('shown');
    const renamed = await service.put({ user_group_id: 'shown', name: 'Shown' });
    assert.deepEqual(renamed.json.user_group.properties, body.properties);
    await service.get({ user_group_id: 'bare', name: 'Bare' });
    const bare = await service.put({ user_group_id: 'bare', name: 'Still bare' });
    assert.equal(bare.json.user_group.properties, null);
  });

  it('returns 404 for a missing group and creates nothing', async () => {
    const missing = { user_group_id: 'missing', name: 'Missing' };
    const response = await service.put(missing);
    assert.deepEqual([response.status, response.json.code], [404, 'user_group_not_found']);
    assert.equal((await service.get({ user_group_id: 'missing' })).status, 404);
  });

  it('requires the user_group_id', async () => {
    const response = await service.put({ name: 'No id' });
    assert.deepEqual([response.status, response.json.code], [400, 'invalid_request']);
    assert.deepEqual(response.json.errors, [{ pointer: '/user_group_id', detail: 'is required' }]);
  });

  it('keeps the team_id, the token and the id', async () => {
    const { token, teamId } = await createGroup('kept');
    const { user_group } = (
      await service.put({ user_group_id: 'kept', name: 'N', mapping: null, properties: null })
    ).json;
    assert.deepEqual([user_group.team_id, user_group.token, user_group.provided_id], [teamId, token, 'kept']);
  });

  it('is visible to the next request', async () => {
    const { token } = await createGroup('seen');
    for (let round = 0; round < 20; round++) {
      await service.put({ user_group_id: 'seen', name: `Name ${round}`, properties: { round } });
      const found = await service.get({ user_group_id: 'seen', properties: null });
      assert.equal(found.json.user_group.name, `Name ${round}`);
      assert.deepEqual(found.json.user_group.properties, { round });
      assert.equal((await service.resolve(token)).json.user_group.name, `Name ${round}`);
    }
  });

  it('loses none of many parallel updates of different fields and groups', async () => {
    const groups = await Promise.all(['p-1', 'p-2', 'p-3'].map((id) => createGroup(id)));
    const updates = groups.flatMap(({ body: { user_group_id } }) => [
      { user_group_id, name: `${user_group_id} new` },
      { user_group_id, mapping: { 1: user_group_id } },
      { user_group_id, properties: { of: user_group_id } },
      { user_group_id: `${user_group_id}-missing`, name: 'Missing' },
    ]);
    const responses = await Promise.all(updates.map((update) => service.put(update)));
    assert.deepEqual(
      responses.map(({ status }) => status),
      groups.flatMap(() => [200, 200, 200, 404]),
    );
    for (const { body, stored } of groups) {
      const id = body.user_group_id;
      assert.deepEqual(await stored(), { name: `${id} new`, mapping: { 1: id }, properties: { of: id } });
    }
  });
});
