// Contract: the ETag identifies a group and its version, and If-Match makes an update conditional.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('versions', (database) => {
  const service = TestService.of(database);

  /** Creates a group; `etag` reads its current version. */
  async function createGroup(id: string) {
    const fields = { name: 'Acme', mapping: { 1: 'a' }, properties: { a: 1, b: [1.5] } };
    const created = await service.get({ user_group_id: id, ...fields });
    const etag = async () => (await service.get({ user_group_id: id })).headers.etag!;
    return { fields, token: created.json.user_group.token as string, first: created.headers.etag!, etag };
  }

  function putIfMatch(id: string, ifMatch: string, fields: object) {
    return service.put({ user_group_id: id, ...fields }, { headers: { 'if-match': ifMatch } });
  }

  describe('ETag', () => {
    it('is strong and quoted in every response of the three operations, with Cache-Control: no-store', async () => {
      const { token } = await createGroup('tagged');
      const body = { user_group_id: 'tagged' };
      const responses = [
        await service.get(body),
        await service.put(body),
        await service.call('POST', '/v1/user-groups', body),
        await service.post({ current_token: token }),
      ];
      for (const { status, headers } of responses) {
        assert.equal(status, 200);
        assert.match(headers.etag!, /^"[!#-~]+"$/);
        assert.equal(headers['cache-control'], 'no-store');
      }
    });

    it('changes with every update and rotation to a value that the group never had', async () => {
      const { first, token, etag } = await createGroup('grows');
      const seen = [first];
      for (const fields of [
        { name: 'B' },
        { mapping: null },
        { properties: { a: 2 } },
        { properties: { a: 1 } },
        { name: 'Acme' },
        { mapping: { 1: 'a' } },
      ]) {
        const { headers } = await service.put({ user_group_id: 'grows', ...fields });
        seen.push(headers.etag!);
        assert.equal(await etag(), headers.etag);
      }
      seen.push((await service.post({ current_token: token })).headers.etag!);
      assert.equal(await etag(), seen.at(-1));
      assert.equal(new Set(seen).size, seen.length);
    });

    it('stays the same if a mutation changes nothing', async () => {
      const { fields, token, first, etag } = await createGroup('stays');
      const spaced = '{"user_group_id":"stays","properties":{ "\\u0061":1, "b": [1.5] }}';
      const unchanged: unknown[] = [
        { user_group_id: 'stays' },
        { user_group_id: 'stays', ...fields },
        { user_group_id: 'stays', name: fields.name },
        spaced,
      ];
      for (const body of unchanged) assert.equal((await service.put(body)).headers.etag, first);
      await service.get({ user_group_id: 'stays', name: 'Other', properties: {} });
      await service.put({ user_group_id: 'stays', name: '' });
      await service.resolve(token);
      assert.equal(await etag(), first);

      const rotated = await service.post({ current_token: token });
      assert.equal((await service.post({ current_token: token })).headers.etag, rotated.headers.etag);
    });

    it('stays the same if null clears an empty field', async () => {
      for (const none of [{}, { mapping: null, properties: null }]) {
        const id = `clear-${Object.keys(none).length}`;
        const created = await service.get({ user_group_id: id, name: 'Clear', ...none });
        const cleared = await service.put({ user_group_id: id, mapping: null, properties: null });
        assert.equal(cleared.headers.etag, created.headers.etag);
      }
    });

    it('is unique to the group', async () => {
      const created = await Promise.all(
        Array.from({ length: 50 }, (_, index) => createGroup(`own-${index}`)),
      );
      assert.equal(new Set(created.map(({ first }) => first)).size, 50);
    });

    it('never repeats after the group is deleted and created again', async () => {
      const { first } = await createGroup('reborn');
      const deleted = await service.call('DELETE', '/v1/user-groups/reborn');
      assert.equal(deleted.status, 204);
      const { first: second } = await createGroup('reborn');
      assert.notEqual(second, first);
      assert.equal((await putIfMatch('reborn', first, { name: 'Stale' })).status, 412);
    });
  });

  describe('If-Match', () => {
    it('returns 404 if the group does not exist, and creates none', async () => {
      const { first } = await createGroup('other');
      for (const tag of [first, '*']) {
        const response = await putIfMatch('missing', tag, { name: 'Missing' });
        assert.deepEqual([response.status, response.json.code], [404, 'user_group_not_found']);
      }
      assert.equal((await service.get({ user_group_id: 'missing' })).status, 404);
    });
  });
});
