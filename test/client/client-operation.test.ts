// The client: one method per operation of the service, against the real service.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  type Config,
  type Properties,
  UserGroupClient,
  type UserGroupServiceError,
} from '../../client/src/index.ts';
import { sectionNames } from '../../src/domain/config/config.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';

/** Compiles only if the client knows every section of the configuration. */
sectionNames satisfies readonly (keyof Config)[];

const mapping = { 40: '213', sales: 7 };
const properties: Properties = { plan: 'gold', seats: 12, tags: ['a', { b: null }], '✓': 'é' };

describeOnEachDatabase('The client', (database) => {
  const service = TestService.of(database);
  let client: UserGroupClient;
  before(async () => {
    client = new UserGroupClient({ url: service.url, apiToken: service.token });
  });

  function failsWith(code: string): (error: UserGroupServiceError) => boolean {
    return (error) => {
      assert.equal(error.code, code, error.message);
      return true;
    };
  }

  it('creates a user group, and returns the existing one the second time', async () => {
    const group = { user_group_id: 'created', name: 'Created', mapping, properties };
    const created = await client.getOrCreate(group);
    assert.equal(created.new_user_group, true);
    assert.equal(created.user_group.provided_id, 'created');
    assert.deepEqual(created.user_group.properties, properties);
    assert.deepEqual(await client.getOrCreate(group), { ...created, new_user_group: false });
  });

  it('reports which sent fields differ from the stored ones', async () => {
    await client.getOrCreate({ user_group_id: 'drift', name: 'Drift' });
    const found = await client.getOrCreate({ user_group_id: 'drift', name: 'Other', properties });
    assert.deepEqual(found.drift, ['name', 'properties']);
    assert.deepEqual((await client.getOrCreate({ user_group_id: 'drift' })).drift, []);
  });

  it('does not create a user group without a name', async () => {
    const group = { user_group_id: 'nameless', name: undefined };
    await assert.rejects(client.getOrCreate(group), failsWith('user_group_not_found'));
  });

  it('updates the sent fields and keeps the others', async () => {
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

  it('changes a user group only if it still has the version of ifMatch', async () => {
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

  it('rotates a token only if its group still has the version of ifMatch', async () => {
    const { user_group, etag } = await client.getOrCreate({ user_group_id: 'rotated once', name: 'R' });
    const rotation = { current_token: user_group.token };
    const rotated = await client.rotate(rotation, { ifMatch: etag });
    await assert.rejects(client.rotate(rotation, { ifMatch: etag }), failsWith('version_mismatch'));
    assert.deepEqual(await client.rotate(rotation), rotated);
  });

  it('with ifNoneMatch, creates a user group only if it does not exist', async () => {
    const group = { user_group_id: 'created once', name: 'C' };
    const { new_user_group } = await client.getOrCreate(group, { ifNoneMatch: '*' });
    assert.equal(new_user_group, true);
    await assert.rejects(client.getOrCreate(group, { ifNoneMatch: '*' }), failsWith('version_mismatch'));
  });

  it('rotates a token, and resolves the old and the new token', async () => {
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

  it('fails to resolve an unknown token', async () => {
    await assert.rejects(client.resolve('nobody'), failsWith('user_group_token_not_found'));
  });

  it('reports a missing or garbled token of a viewer like an unknown token', async () => {
    const errorOf = (token: unknown) =>
      client.resolve(token as string).then(
        () => assert.fail('resolved'),
        ({ name, code, status, message, errors }: UserGroupServiceError) => ({
          name,
          code,
          status,
          message,
          errors,
        }),
      );
    const expected = await errorOf('nobody');
    assert.equal(expected.code, 'user_group_token_not_found');
    const garbled = ['', undefined, null, ' ', 'a\ud800', 'x'.repeat(300_000), 7, ['nobody', 'nobody'], {}];
    for (const token of garbled) {
      assert.deepEqual(await errorOf(token), expected, String(token).slice(0, 20));
    }
  });

  it('reads all stored fields of a user group', async () => {
    const group = { user_group_id: 'read', name: 'Read', mapping, properties };
    const { user_group: created, etag } = await client.getOrCreate(group);
    const read = await client.read('read');
    const { created_at, updated_at, ...rest } = read.user_group;
    assert.deepEqual(rest, {
      ...created,
      mapping,
      properties,
      api_environment_tag: 'Customer',
      version: 1,
      suspended: false,
      last_seen_at: null,
    });
    assert.equal(created_at, updated_at);
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000);
    assert.equal(read.etag, etag);
    await assert.rejects(client.read('unread'), failsWith('user_group_not_found'));
  });

  it('reads no token with a read-only API token', async () => {
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

  it('creates and replaces a user group by its id', async () => {
    const created = await client.replace('replaced', { name: 'A', properties: { plan: 'gold' } });
    assert.equal(created.new_user_group, true);
    const replaced = await client.replace('replaced', { name: 'B' }, { ifMatch: created.etag });
    assert.equal(replaced.new_user_group, false);
    assert.deepEqual([replaced.user_group.name, replaced.user_group.properties], ['B', null]);
    assert.equal(replaced.user_group.token, created.user_group.token);
    await assert.rejects(client.replace('replaced', { name: 'C' }, { ifMatch: created.etag }), {
      code: 'version_mismatch',
    });
    await assert.rejects(client.replace('replaced', { name: 'C' }, { ifNoneMatch: '*' }), {
      code: 'version_mismatch',
    });
  });

  it('rotates a token by the id of its group', async () => {
    const { user_group, etag } = await client.replace('rotated-by-id', { name: 'A' });
    const rotated = await client.rotateById('rotated-by-id', { gracePeriodSeconds: 60, ifMatch: etag });
    assert.notEqual(rotated.user_group.token, user_group.token);
    assert.equal((await client.resolve(user_group.token)).token.status, 'retiring');
    assert.equal((await client.read('rotated-by-id')).etag, rotated.etag);
    await assert.rejects(client.rotateById('rotated-by-id', { ifMatch: etag }), { code: 'version_mismatch' });
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

  it('rejects ids that a URL path cannot contain, and sends no request', async () => {
    const unreachable = new UserGroupClient({ url: 'http://127.0.0.1:1', apiToken: 'x' });
    for (const id of ['', '.', '..']) {
      await assert.rejects(async () => unreachable.read(id), TypeError);
      await assert.rejects(async () => unreachable.patch(id, {}), TypeError);
      await assert.rejects(async () => unreachable.delete(id), TypeError);
    }
  });

  it('renames a user group, and the call can be repeated', async () => {
    const { user_group, etag } = await client.getOrCreate({ user_group_id: 'to/rename', name: 'R' });
    await client.getOrCreate({ user_group_id: 'taken', name: 'T' });
    await assert.rejects(client.rename('to/rename', 'taken'), failsWith('user_group_exists'));
    const renamed = await client.rename('to/rename', 'renamed', { ifMatch: etag });
    assert.equal(renamed.user_group.token, user_group.token);
    assert.deepEqual(await client.rename('to/rename', 'renamed'), renamed);
    assert.equal((await client.resolve(user_group.token)).user_group.provided_id, 'renamed');
    await assert.rejects(client.rename('unknown', 'other'), failsWith('user_group_not_found'));
  });

  it('suspends and resumes a user group', async () => {
    const { user_group, etag } = await client.getOrCreate({ user_group_id: 'suspended', name: 'S' });
    const suspended = await client.suspend('suspended', { ifMatch: etag });
    assert.equal(suspended.user_group.suspended, true);
    await assert.rejects(client.resolve(user_group.token), failsWith('user_group_token_not_found'));
    await assert.rejects(client.resume('suspended', { ifMatch: etag }), failsWith('version_mismatch'));
    assert.equal((await client.resume('suspended')).user_group.suspended, false);
    assert.equal((await client.resolve(user_group.token)).token.status, 'current');
    await assert.rejects(client.suspend('unknown'), failsWith('user_group_not_found'));
  });

  describe('listing', () => {
    const ids = Array.from({ length: 25 }, (_, index) => `list/${String(index).padStart(2, '0')} &`);
    before(async () => {
      for (const id of ids) await client.getOrCreate({ user_group_id: id, name: `Name of ${id}`, mapping });
    });

    it('yields all user groups that match a search, over any number of pages', async () => {
      for (const limit of [1, 7, 25, undefined]) {
        const found = await Array.fromAsync(client.list({ search: 'list/', limit }));
        assert.deepEqual(found.map(({ provided_id }) => provided_id).sort(), ids);
        assert.deepEqual(found[0]?.mapping, mapping);
        assert.equal('token' in found[0]!, false);
      }
    });

    it('yields the user groups that meet every condition', async () => {
      const found = await Array.fromAsync(
        client.list({
          search: 'NAME OF LIST',
          match: 'contains',
          data_source: 7,
          suspended: false,
          limit: 10,
        }),
      );
      assert.deepEqual(found.map(({ provided_id }) => provided_id).sort(), ids);
      const query = { search: 'list/', seen_before: '2026-03-05T16:00:00+01:00' };
      assert.equal((await Array.fromAsync(client.list(query))).length, ids.length);
      assert.deepEqual(await Array.fromAsync(client.list({ ...query, suspended: true })), []);
    });

    it('yields nothing if no group matches', async () => {
      assert.deepEqual(await Array.fromAsync(client.list({ search: 'list/99' })), []);
    });

    it('fetches pages only as needed', async () => {
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

    it('returns a single page and the cursor of the next page', async () => {
      const first = await client.listPage({ search: 'list/', limit: 20 });
      assert.equal(first.user_groups.length, 20);
      assert.equal(typeof first.next_cursor, 'string');
      const second = await client.listPage({ search: 'list/', limit: 20, cursor: first.next_cursor! });
      assert.equal(second.user_groups.length, 5);
      assert.equal(second.next_cursor, null);
    });
  });

  for (const path of ['/groups', '/groups/', '/groups//', '/groups?', '/groups/#']) {
    it(`calls a service with a path prefix: ${path}`, async () => {
      const urls: string[] = [];
      const prefixed = new UserGroupClient({
        url: new URL(path, service.url),
        apiToken: service.token,
        fetch: (url, request) => {
          urls.push(url);
          return fetch(url.replace('/groups/', '/'), request);
        },
      });
      await prefixed.getOrCreate({ user_group_id: 'below', name: 'Below' });
      await prefixed.read('below');
      assert.deepEqual(urls, [
        `${service.url}/groups/v1/user-groups`,
        `${service.url}/groups/v1/user-groups/below`,
      ]);
    });
  }

  it('lets no framework cache a response, and rethrows what a framework throws for that', async () => {
    const caches: string[] = [];
    const recording = new UserGroupClient({
      url: service.url,
      apiToken: service.token,
      fetch: (url, request) => {
        caches.push(request.cache);
        return fetch(url, request);
      },
    });
    await recording.getOrCreate({ user_group_id: 'cached', name: 'Cached' });
    await recording.read('cached');
    assert.deepEqual(caches, ['no-store', 'no-store']);
    const dynamic = Object.assign(new Error('Dynamic server usage'), { digest: 'DYNAMIC_SERVER_USAGE' });
    const rendering = new UserGroupClient({
      url: service.url,
      apiToken: service.token,
      fetch: () => Promise.reject(dynamic),
    });
    await assert.rejects(rendering.read('cached'), (error) => error === dynamic);
  });

  it('reads and applies the configuration', async () => {
    const { token: apiToken } = await service.apiToken({ permission: 'admin', workspaceName: 'configured' });
    const admin = new UserGroupClient({ url: service.url, apiToken });
    const { config, config_version: configVersion } = await admin.readConfig();
    assert.deepEqual([config.schemas, configVersion], [{}, 0]);
    const sent = { version: 1, schemas: { 40: { name: 'Orders' } } } as const;
    const plan = await admin.applyConfig(sent, { dryRun: true });
    assert.deepEqual([plan.changes.length, plan.config_version], [1, 0]);
    const applied = await admin.applyConfig(sent, { configVersion });
    assert.deepEqual([applied.changes, applied.kept], [plan.changes, []]);
    assert.equal((await admin.readConfig()).config_version, applied.config_version);
    await assert.rejects(
      admin.applyConfig({ version: 1, schemas: {} }, { configVersion, prune: true }),
      failsWith('version_mismatch'),
    );
    await admin.applyConfig({ version: 1, schemas: {} }, { prune: true });
    assert.deepEqual((await admin.readConfig()).config.schemas, {});
  });

  it('applies the configuration that it has read, once the names in place of secrets are removed', async () => {
    const { token: apiToken } = await service.apiToken({ permission: 'admin', workspaceName: 'integrated' });
    const admin = new UserGroupClient({ url: service.url, apiToken });
    await admin.integrations.put('bi', {
      type: 'metabase',
      secret: 'metabase-secret'.repeat(4),
      settings: { url: 'https://bi.example.com', resources: [{ dashboard: 7 }] },
      claims: { customer: { field: 'provided_id' } },
    });
    const { config, config_version: configVersion } = await admin.readConfig();
    const { secret, ...bi } = config.integrations.bi!;
    assert.deepEqual(secret, { environment: 'INTEGRATION_BI_SECRET' });
    const { changes, kept } = await admin.applyConfig({ ...config, integrations: { bi } }, { configVersion });
    assert.deepEqual([changes, kept], [[], []]);
  });

  it('creates, lists, reads, rotates and revokes API tokens', async () => {
    const { token: apiToken } = await service.apiToken({
      permission: 'admin',
      workspaceName: 'administered',
    });
    const admin = new UserGroupClient({ url: service.url, apiToken });
    const { token, ...created } = await admin.createApiToken({
      name: 'wall',
      permission: 'resolve',
      expires_in_seconds: 60,
    });
    const id = created.api_token_id;
    assert.deepEqual(await admin.readApiToken(id), created);
    const { workspace, api_token: own } = await admin.whoami();
    assert.deepEqual([workspace, own.permission, own.status], ['administered', 'admin', 'active']);
    const listed = await Array.fromAsync(admin.listApiTokens({ limit: 1 }));
    assert.deepEqual(listed.at(-1), created);
    assert.equal(listed.length, 2);
    const page = await admin.listApiTokensPage();
    assert.deepEqual([page.api_tokens.length, page.next_cursor], [2, null]);
    const rotated = await admin.rotateApiToken(id, { gracePeriodSeconds: 30 });
    assert.notEqual(rotated.token, token);
    assert.notEqual(rotated.previous_token_expires_at, null);
    for (const _time of [1, 2]) await admin.revokeApiToken(id);
    assert.equal((await admin.readApiToken(id)).status, 'revoked');
    await assert.rejects(admin.rotateApiToken(id), failsWith('api_token_inactive'));
    await assert.rejects(admin.readApiToken(999_999_999), failsWith('api_token_not_found'));
    for (const invalid of [0, 1.5, Number.NaN])
      await assert.rejects(admin.revokeApiToken(invalid), TypeError);
  });
});
