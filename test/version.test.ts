// Contract: ETag names the life and version of a group, and If-Match makes an update conditional.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeOnEachDatabase } from './database.ts';
import { TestService } from './service.ts';

describeOnEachDatabase('versions', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  /** A new group; `etag` looks up its version now. */
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
    it('stands on every answer of the three operations, strong and quoted, beside Cache-Control: no-store', async () => {
      const { token } = await createGroup('stands');
      const body = { user_group_id: 'stands' };
      const answers = [
        await service.get(body),
        await service.put(body),
        await service.call('POST', '/v1/user-groups', body),
        await service.post({ current_token: token }),
      ];
      for (const { status, headers } of answers) {
        assert.equal(status, 200);
        assert.match(headers.etag!, /^"[!#-~]+"$/);
        assert.equal(headers['cache-control'], 'no-store');
      }
    });

    it('changes with every update and rotation, to a value that the group never had', async () => {
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

    it('stays where a mutation changes nothing', async () => {
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

    it('stays where null clears what is clear', async () => {
      for (const none of [{}, { mapping: null, properties: null }]) {
        const id = `clear-${Object.keys(none).length}`;
        const created = await service.get({ user_group_id: id, name: 'Clear', ...none });
        const cleared = await service.put({ user_group_id: id, mapping: null, properties: null });
        assert.equal(cleared.headers.etag, created.headers.etag);
      }
    });

    it('is never that of another group', async () => {
      const created = await Promise.all(
        Array.from({ length: 50 }, (_, index) => createGroup(`own-${index}`)),
      );
      assert.equal(new Set(created.map(({ first }) => first)).size, 50);
    });

    it('never repeats after the group was deleted and made again', async () => {
      const { first } = await createGroup('reborn');
      const deleted = await service.call('DELETE', '/v1/user-groups/reborn');
      assert.equal(deleted.status, 204);
      const { first: second } = await createGroup('reborn');
      assert.notEqual(second, first);
      assert.equal((await putIfMatch('reborn', first, { name: 'Stale' })).status, 412);
    });

    it('survives a restart', async () => {
      const { etag } = await createGroup('restart');
      const before = await etag();
      await service.restart();
      assert.equal(await etag(), before);
    });
  });

  describe('If-Match', () => {
    it('lets an update of that version through', async () => {
      const { first, etag } = await createGroup('match');
      const answer = await putIfMatch('match', first, { name: 'New' });
      assert.deepEqual([answer.status, answer.json.user_group.name], [200, 'New']);
      assert.equal(answer.headers.etag, await etag());
    });

    it('answers 412 to an update of another version, and changes nothing', async () => {
      const { first, token, etag } = await createGroup('mismatch');
      await service.put({ user_group_id: 'mismatch', name: 'Second' });
      const before = await etag();
      const stored = (await service.resolve(token)).text;
      for (const fields of [{ name: 'Third' }, { mapping: null, properties: null }, {}, { name: 'Second' }]) {
        const answer = await putIfMatch('mismatch', first, fields);
        assert.deepEqual([answer.status, answer.json.code], [412, 'version_mismatch']);
      }
      assert.equal(await etag(), before);
      assert.equal((await service.resolve(token)).text, stored);
    });

    it('takes a rotation for a change', async () => {
      const { first, token } = await createGroup('rotated');
      await service.post({ current_token: token });
      assert.equal((await putIfMatch('rotated', first, { name: 'Stale' })).status, 412);
    });

    it('takes a list, of which one must match', async () => {
      const { first } = await createGroup('list');
      assert.equal((await putIfMatch('list', '"x", "y,z"', {})).status, 412);
      assert.equal((await putIfMatch('list', `"x",${first} , "y,z"`, {})).status, 200);
    });

    it('takes * for any version', async () => {
      await createGroup('any');
      assert.equal((await putIfMatch('any', '*', { name: 'Any' })).status, 200);
    });

    it('never matches a weak tag', async () => {
      const { first } = await createGroup('weak');
      assert.equal((await putIfMatch('weak', `W/${first}`, {})).status, 412);
    });

    it('never matches the version of another group', async () => {
      await createGroup('mine');
      const { first } = await createGroup('theirs');
      assert.equal((await putIfMatch('mine', first, {})).status, 412);
    });

    it('answers 404 where there is no group, and creates none', async () => {
      const { first } = await createGroup('other');
      for (const tag of [first, '*']) {
        const answer = await putIfMatch('nobody', tag, { name: 'Nobody' });
        assert.deepEqual([answer.status, answer.json.code], [404, 'user_group_not_found']);
      }
      assert.equal((await service.get({ user_group_id: 'nobody' })).status, 404);
    });

    it('answers 400 to what is no entity tag, instead of updating without a condition', async () => {
      const { first, etag } = await createGroup('malformed');
      for (const tag of [first.slice(1, -1), '"', '""x', `${first} ${first}`, '', '*, "x"', "'x'"]) {
        const answer = await putIfMatch('malformed', tag, { name: 'Unconditional' });
        assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_request'], tag);
      }
      assert.equal(await etag(), first);
    });

    it('lets one of many parallel updates of a version through, so that none is lost', async () => {
      const { first, token } = await createGroup('lost');
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) => putIfMatch('lost', first, { name: `Name ${index}` })),
      );
      const winners = answers.filter(({ status }) => status === 200);
      assert.equal(winners.length, 1);
      assert.ok(answers.every(({ status }) => status === 200 || status === 412));
      const stored = (await service.resolve(token)).json.user_group.name;
      assert.equal(stored, winners[0]?.json.user_group.name);
    });
  });
});
