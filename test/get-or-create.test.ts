// Contract: GET /api/user gets or creates a user group.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeOnEachDatabase } from './database.ts';
import { TestService } from './service.ts';

const TOKEN = /^ugt_[0-9A-Za-z]{52}$/;

describeOnEachDatabase('GET /api/user', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  describe('where there is no group of the id', () => {
    it('creates it when a name is sent, and says so', async () => {
      const answer = await service.get({ user_group_id: 'new-1', name: 'Acme' });
      assert.equal(answer.status, 200);
      assert.equal(answer.json.success, 1);
      assert.equal(answer.json.new_user_group, true);
      assert.match(answer.json.user_group.token, TOKEN);
      assert.equal(answer.json.user_group.name, 'Acme');
      assert.equal(answer.json.user_group.provided_id, 'new-1');
    });

    it('answers 404 without a name, creates nothing, and says that a name would', async () => {
      for (let time = 0; time < 2; time++) {
        const answer = await service.get({ user_group_id: 'nameless' });
        assert.equal(answer.status, 404);
        assert.equal(answer.json.code, 'user_group_not_found');
        assert.match(answer.json.detail, /name.*create/);
      }
    });

    it('takes a null mapping and null properties as none', async () => {
      const answer = await service.get({
        user_group_id: 'new-nulls',
        name: 'A',
        mapping: null,
        properties: null,
      });
      assert.equal(answer.json.new_user_group, true);
      assert.equal(answer.json.user_group.properties, null);
      const resolved = await service.resolve(answer.json.user_group.token);
      assert.equal(resolved.json.user_group.mapping, null);
    });

    it('lets exactly one of 200 parallel first calls create it, and gives all of them its token', async () => {
      const calls = Array.from({ length: 200 }, () => service.get({ user_group_id: 'race', name: 'Race' }));
      const answers = await Promise.all(calls);
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(answers.filter(({ json }) => json.new_user_group === true).length, 1);
      assert.equal(new Set(answers.map(({ json }) => json.user_group.token)).size, 1);
      assert.equal(new Set(answers.map(({ json }) => json.user_group.team_id)).size, 1);
    });
  });

  describe('where there is a group of the id', () => {
    const stored = {
      user_group_id: 'there',
      name: 'There',
      mapping: { 40: '213' },
      properties: { plan: 'gold', seats: 3 },
    };
    before(() => service.get(stored));

    it('returns what is stored, changes nothing, and says that it is not new', async () => {
      const first = await service.get({ user_group_id: 'there' });
      const other = { ...stored, name: 'Other', mapping: { 1: 2 }, properties: { plan: 'lead' } };
      const answer = await service.get(other);
      assert.equal(answer.status, 200);
      assert.equal(answer.json.new_user_group, false);
      assert.equal(answer.json.user_group.name, 'There');
      assert.deepEqual(answer.json.user_group.properties, stored.properties);
      assert.equal(answer.json.user_group.token, first.json.user_group.token);
      assert.equal(answer.headers.etag, first.headers.etag);
      const resolved = await service.resolve(answer.json.user_group.token);
      assert.deepEqual(resolved.json.user_group.mapping, stored.mapping);
    });

    it('lists in User-Group-Drift which sent fields differ from the stored ones', async () => {
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

    it('sees no drift in the order of keys and in white space', async () => {
      const body = '{"user_group_id":"there","properties": { "seats" : 3, "plan": "gold" } }';
      assert.equal((await service.get(body)).headers['user-group-drift'], undefined);
    });
  });

  it('shows properties exactly when the request carried the key', async () => {
    await service.get({ user_group_id: 'shown', name: 'Shown', properties: { a: 1 } });
    const without = await service.get({ user_group_id: 'shown' });
    assert.equal('properties' in without.json.user_group, false);
    const withNull = await service.get({ user_group_id: 'shown', properties: null });
    assert.deepEqual(withNull.json.user_group.properties, { a: 1 });
    await service.get({ user_group_id: 'bare', name: 'Bare' });
    const bare = await service.get({ user_group_id: 'bare', properties: {} });
    assert.equal(bare.json.user_group.properties, null);
  });

  it('answers with the fields of the specification, in its order and no others', async () => {
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

  it('is the same at /api/user/ with a slash at the end', async () => {
    const answer = await service.call('GET', '/api/user/', { user_group_id: 'slash', name: 'Slash' });
    assert.equal(answer.json.new_user_group, true);
  });

  it('gives each group a positive team_id below 2^53 that no other has', async () => {
    const calls = Array.from({ length: 50 }, (_, index) =>
      service.get({ user_group_id: `team-${index}`, name: 'T' }),
    );
    const ids = (await Promise.all(calls)).map(({ json }) => json.user_group.team_id);
    assert.equal(new Set(ids).size, 50);
    assert.ok(ids.every((id) => Number.isSafeInteger(id) && id > 0));
  });
});
