// The service works with common HTTP clients, directly and through common proxies.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, type ClientKind, clients } from '../support/client-matrix/client.ts';
import { ProxyServer, proxies } from '../support/client-matrix/proxy.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

const LIMIT_MS = 60_000;
/** Long enough for proxies to buffer it in a file instead of in memory. */
const long = 'ü'.repeat(30_000);
const oddIds = ['a/b', 'x y', '100%', '..%2F..', '?a=b#c', 'Größe', '漢字', '👩‍👩‍👧'];

for (const proxyKind of [null, ...proxies]) {
  const skip = proxyKind !== null && proxyKind.command === undefined && `${proxyKind.name} is not installed`;
  describe(proxyKind === null ? 'Without a proxy' : `Behind ${proxyKind.name}`, { skip }, () => {
    const stack = suiteStack();
    let service: TestService;
    let proxy: ProxyServer | null = null;
    before(async () => {
      service = stack.use(await TestService.start(sqlite));
      if (proxyKind !== null) proxy = stack.use(await ProxyServer.start(proxyKind, service.url));
    });

    for (const kind of clients) {
      const missing = kind.command === undefined && `${kind.name} is not installed`;
      describe(kind.name, { skip: missing, timeout: LIMIT_MS }, () => {
        let client: Client;
        before(() => {
          client = new Client(kind, proxy?.url ?? service.url, service.token);
        });
        after(() => client[Symbol.asyncDispose]());

        testGet(kind, () => client);
        testChanges(kind, () => client);
        testV1(kind, () => client);
      });
    }
  });
}

function testGet({ name, getBody }: ClientKind, client: () => Client): void {
  const group = { user_group_id: `get by ${name}`, name: 'Ünïcode ✓', properties: { long } };

  if (getBody === 'sent') {
    it('gets or creates with GET /api/user', async () => {
      const created = await client().call('GET', '/api/user', group);
      assert.equal(created.status, 200);
      assert.equal(created.json.new_user_group, true);
      assert.equal(created.json.user_group.name, group.name);
      assert.deepEqual(created.json.user_group.properties, group.properties);
      const found = await client().call('GET', '/api/user', { user_group_id: group.user_group_id });
      assert.equal(found.json.new_user_group, false);
      assert.equal(found.json.user_group.token, created.json.user_group.token);
    });

    it('reads the error of a rejected GET /api/user', async () => {
      const response = await client().call('GET', '/api/user', { user_group_id: 'nobody' });
      assert.deepEqual([response.status, response.json.code], [404, 'user_group_not_found']);
    });
  }

  if (getBody === 'refused') {
    it('refuses to send GET /api/user', async () => {
      const response = await client().call('GET', '/api/user', group);
      assert.equal(response.status, 'refused');
      assert.match(response.json, /GET.*body/);
    });
  }

  if (getBody === 'becomes POST') {
    it('turns GET /api/user into POST, and gets an error that says so', async () => {
      const response = await client().call('GET', '/api/user', group);
      assert.deepEqual([response.status, response.json.code], [400, 'invalid_request']);
      assert.match(response.json.detail, /changed GET to POST.*POST \/v1\/user-groups/);
    });
  }
}

function testChanges({ name }: ClientKind, client: () => Client): void {
  it('updates with PUT and rotates with POST /api/user', async () => {
    const id = `changed by ${name}`;
    await client().call('POST', '/v1/user-groups', { user_group_id: id, name: 'Old' });
    const updated = await client().call('PUT', '/api/user', {
      user_group_id: id,
      name: 'Nëw',
      mapping: { 1: 2 },
    });
    assert.equal(updated.status, 200);
    assert.equal(updated.json.user_group.name, 'Nëw');
    const current_token = updated.json.user_group.token;
    const rotated = await client().call('POST', '/api/user', { current_token, grace_period_seconds: 60 });
    assert.equal(rotated.status, 200);
    assert.notEqual(rotated.json.user_group.token, current_token);
    const again = await client().call('POST', '/api/user', { current_token });
    assert.equal(again.json.user_group.token, rotated.json.user_group.token);
  });
}

function testV1({ name, patch }: ClientKind, client: () => Client): void {
  it('gets or creates with POST /v1/user-groups, and resolves', async () => {
    const group = { user_group_id: `post by ${name}`, name: 'P', properties: { long } };
    const created = await client().call('POST', '/v1/user-groups', group);
    assert.deepEqual([created.status, created.json.new_user_group], [201, true]);
    const found = await client().call('POST', '/v1/user-groups', group);
    assert.deepEqual([found.status, found.json.new_user_group], [200, false]);
    const resolved = await client().call('POST', '/v1/resolve', { token: created.json.user_group.token });
    assert.equal(resolved.json.user_group.provided_id, group.user_group_id);
    assert.deepEqual(resolved.json.user_group.properties, group.properties);
  });

  it('reads and deletes user groups with unusual ids', async () => {
    for (const odd of oddIds) {
      const id = `${odd} by ${name}`;
      const path = `/v1/user-groups/${encodeURIComponent(id)}`;
      await client().call('POST', '/v1/user-groups', { user_group_id: id, name: 'Odd' });
      const read = await client().call('GET', path);
      assert.deepEqual([read.status, read.json.user_group?.provided_id], [200, id]);
      assert.deepEqual(await client().call('DELETE', path), { status: 204, json: null });
      assert.equal((await client().call('GET', path)).status, 404);
    }
  });

  it('lists user groups', async () => {
    const id = `list by ${name} & more`;
    await client().call('POST', '/v1/user-groups', { user_group_id: id, name: 'L' });
    const list = await client().call('GET', `/v1/user-groups?limit=10&search=${encodeURIComponent(id)}`);
    assert.equal(list.status, 200);
    assert.equal(list.json.user_groups.length, 1);
    assert.equal(list.json.user_groups[0].provided_id, id);
    assert.equal(list.json.next_cursor, null);
  });

  it(patch === 'sent' ? 'patches a user group' : 'refuses to send PATCH', async () => {
    const id = `patch by ${name}`;
    await client().call('POST', '/v1/user-groups', {
      user_group_id: id,
      name: 'P',
      properties: { a: 1, b: 2 },
    });
    const path = `/v1/user-groups/${encodeURIComponent(id)}`;
    const patched = await client().call('PATCH', path, { properties: { a: null } });
    if (patch === 'refused') return assert.equal(patched.status, 'refused');
    assert.equal(patched.status, 200);
    assert.deepEqual(patched.json.user_group.properties, { b: 2 });
  });
}
