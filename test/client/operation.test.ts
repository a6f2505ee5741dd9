// The client: every call of the service as a method, against the real service.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Properties, UserGroupClient, type UserGroupServiceError } from '../../client/src/index.ts';
import { describeOnEachDatabase } from '../database.ts';
import { TestService } from '../service.ts';

const mapping = { 40: '213', sales: 7 };
const properties: Properties = { plan: 'gold', seats: 12, tags: ['a', { b: null }], '✓': 'é' };

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describeOnEachDatabase('The client', (database) => {
  let service: TestService;
  let client: UserGroupClient;
  before(async () => {
    service = await TestService.start(database);
    client = new UserGroupClient({ url: service.url, apiToken: service.token });
  });
  after(() => service.end());

  function failsWith(code: string): (error: UserGroupServiceError) => boolean {
    return (error) => {
      assert.equal(error.code, code, error.message);
      return true;
    };
  }

  it('creates a user group, and gets it the second time', async () => {
    const group = { user_group_id: 'created', name: 'Created', mapping, properties };
    const created = await client.getOrCreate(group);
    assert.equal(created.new_user_group, true);
    assert.equal(created.user_group.provided_id, 'created');
    assert.deepEqual(created.user_group.properties, properties);
    assert.deepEqual(await client.getOrCreate(group), { ...created, new_user_group: false });
  });

  it('tells which sent fields differ from the stored ones', async () => {
    await client.getOrCreate({ user_group_id: 'drift', name: 'Drift' });
    const found = await client.getOrCreate({ user_group_id: 'drift', name: 'Other', properties });
    assert.deepEqual(found.drift, ['name', 'properties']);
    assert.deepEqual((await client.getOrCreate({ user_group_id: 'drift' })).drift, []);
  });

  it('does not create a user group without a name', async () => {
    const group = { user_group_id: 'nameless', name: undefined };
    await assert.rejects(client.getOrCreate(group), failsWith('user_group_not_found'));
  });

  it('updates what is sent and leaves the rest', async () => {
    const { user_group } = await client.getOrCreate({ user_group_id: 'updated', name: 'Old', properties });
    const updated = await client.update({ user_group_id: 'updated', name: 'New', properties: undefined });
    assert.deepEqual(updated.user_group, {
      ...user_group,
      name: 'New',
      properties,
      api_environment_tag: 'Customer',
    });
    const cleared = await client.update({ user_group_id: 'updated', properties: null });
    assert.equal(cleared.user_group.properties, null);
  });

  it('changes a user group only where it still has the version of ifMatch', async () => {
    const { etag } = await client.getOrCreate({ user_group_id: 'versioned', name: 'One' });
    const change = { user_group_id: 'versioned', name: 'Two' };
    const updated = await client.update(change, { ifMatch: etag });
    await assert.rejects(client.update(change, { ifMatch: etag }), failsWith('version_mismatch'));
    await assert.rejects(
      client.patch('versioned', { name: 'Three' }, { ifMatch: etag }),
      failsWith('version_mismatch'),
    );
    await assert.rejects(client.delete('versioned', { ifMatch: etag }), failsWith('version_mismatch'));
    const patched = await client.patch('versioned', { name: 'Three' }, { ifMatch: updated.etag });
    assert.equal((await client.read('versioned')).etag, patched.etag);
    await client.delete('versioned', { ifMatch: patched.etag });
  });

  it('rotates a token, and resolves the old and the new one', async () => {
    const { user_group: group } = await client.getOrCreate({ user_group_id: 'rotated', name: 'R', mapping });
    const { user_group: rotated } = await client.rotate({
      current_token: group.token,
      grace_period_seconds: 60,
    });
    assert.notEqual(rotated.token, group.token);
    const current = await client.resolve(rotated.token);
    assert.deepEqual(current.token, { status: 'current', expires_at: null });
    assert.deepEqual(current.user_group, {
      team_id: group.team_id,
      provided_id: 'rotated',
      name: 'R',
      properties: null,
      mapping,
      api_environment_tag: 'Customer',
    });
    const { token: old } = await client.resolve(group.token);
    assert.equal(old.status, 'retiring');
    assert.ok(old.expires_at !== null && Date.parse(old.expires_at) > Date.now());
  });

  it('resolves nothing for a token that is nobody’s', async () => {
    await assert.rejects(client.resolve('nobody'), failsWith('user_group_token_not_found'));
  });

  it('reads all that is stored of a user group', async () => {
    const group = { user_group_id: 'read', name: 'Read', mapping, properties };
    const { user_group: created, etag } = await client.getOrCreate(group);
    const read = await client.read('read');
    const { created_at, updated_at, ...rest } = read.user_group;
    assert.deepEqual(rest, { ...created, mapping, properties, api_environment_tag: 'Customer', version: 1 });
    assert.equal(created_at, updated_at);
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000);
    assert.equal(read.etag, etag);
    await assert.rejects(client.read('unread'), failsWith('user_group_not_found'));
  });

  it('reads no token with an API token that is read-only', async () => {
    await client.getOrCreate({ user_group_id: 'read-only', name: 'R' });
    const { token: apiToken } = await service.apiToken({ permission: 'read-only' });
    const reader = new UserGroupClient({ url: service.url, apiToken });
    assert.equal((await reader.read('read-only')).user_group.token, undefined);
    await assert.rejects(reader.delete('read-only'), failsWith('permission_denied'));
  });

  it('patches members of mapping and properties, and removes those that are null', async () => {
    const group = { user_group_id: 'patched', name: 'Old', mapping, properties: { a: 1, b: { c: 2, d: 3 } } };
    await client.getOrCreate(group);
    const { user_group } = await client.patch('patched', {
      name: 'New',
      mapping: { 40: null, 41: 'x' },
      properties: { b: { c: null }, e: [] },
    });
    assert.equal(user_group.name, 'New');
    assert.deepEqual(user_group.mapping, { sales: 7, 41: 'x' });
    assert.deepEqual(user_group.properties, { a: 1, b: { d: 3 }, e: [] });
    assert.equal(user_group.version, 2);
  });

  it('deletes a user group and its token', async () => {
    const { user_group } = await client.getOrCreate({ user_group_id: 'deleted', name: 'D' });
    assert.equal(await client.delete('deleted'), undefined);
    await assert.rejects(client.resolve(user_group.token), failsWith('user_group_token_not_found'));
    await assert.rejects(client.delete('deleted'), failsWith('user_group_not_found'));
  });

  const ids = [
    'a/b',
    '/',
    'x/../y',
    '%',
    '%2F',
    'a b',
    '?q=1#f',
    '+',
    '...',
    '漢字',
    'عربى',
    '👩‍👩‍👧',
    '"\\\'',
    ';=',
  ];
  for (const id of ids) {
    it(`reads, patches and deletes the user group ${JSON.stringify(id)}`, async () => {
      await client.getOrCreate({ user_group_id: id, name: 'Odd' });
      assert.equal((await client.read(id)).user_group.provided_id, id);
      assert.equal((await client.patch(id, { name: 'Odder' })).user_group.provided_id, id);
      await client.delete(id);
      await assert.rejects(client.read(id), failsWith('user_group_not_found'));
    });
  }

  it('refuses ids that the path of a URL cannot name, and sends nothing', async () => {
    const nowhere = new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken: 'x' });
    for (const id of ['', '.', '..']) {
      await assert.rejects(async () => nowhere.read(id), TypeError);
      await assert.rejects(async () => nowhere.patch(id, {}), TypeError);
      await assert.rejects(async () => nowhere.delete(id), TypeError);
    }
  });

  describe('listing', () => {
    const ids = Array.from({ length: 25 }, (_, index) => `list/${String(index).padStart(2, '0')} &`);
    before(async () => {
      for (const id of ids) await client.getOrCreate({ user_group_id: id, name: `Name of ${id}`, mapping });
    });

    it('gives all user groups that a search finds, over any number of pages', async () => {
      for (const limit of [1, 7, 25, undefined]) {
        const found = await all(client.list({ search: 'list/', limit }));
        assert.deepEqual(found.map(({ provided_id }) => provided_id).sort(), ids);
        assert.deepEqual(found[0]?.mapping, mapping);
        assert.equal('token' in found[0]!, false);
      }
    });

    it('gives nothing where nothing is found', async () => {
      assert.deepEqual(await all(client.list({ search: 'list/99' })), []);
    });

    it('asks for no page that is not needed', async () => {
      let calls = 0;
      const counting = new UserGroupClient({
        url: service.url,
        apiToken: service.token,
        fetch: (url, request) => {
          calls++;
          return fetch(url, request);
        },
      });
      for await (const _group of counting.list({ search: 'list/', limit: 5 })) break;
      assert.equal(calls, 1);
    });

    it('gives a single page and the cursor of the next', async () => {
      const first = await client.listPage({ search: 'list/', limit: 20 });
      assert.equal(first.user_groups.length, 20);
      assert.equal(typeof first.next_cursor, 'string');
      const second = await client.listPage({ search: 'list/', limit: 20, cursor: first.next_cursor! });
      assert.equal(second.user_groups.length, 5);
      assert.equal(second.next_cursor, null);
    });
  });

  for (const path of ['/groups', '/groups/', '/groups//', '/groups?', '/groups/#']) {
    it(`calls a service that stands below a path: ${path}`, async () => {
      const urls: string[] = [];
      const below = new UserGroupClient({
        url: new URL(path, service.url),
        apiToken: service.token,
        fetch: (url, request) => {
          urls.push(url);
          return fetch(url.replace('/groups/', '/'), request);
        },
      });
      await below.getOrCreate({ user_group_id: 'below', name: 'Below' });
      await below.read('below');
      assert.deepEqual(urls, [
        `${service.url}/groups/v1/user-groups`,
        `${service.url}/groups/v1/user-groups/below`,
      ]);
    });
  }
});
