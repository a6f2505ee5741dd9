// The client: integrations, embed tokens and signing keys, against the real service.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { UserGroupClient } from '../../client/src/index.ts';
import { adminClient } from '../support/client/admin.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { integrations } from '../support/embed-token/site.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('The client', (database) => {
  const service = TestService.of(database);
  let client: UserGroupClient;
  before(async () => {
    client = await adminClient(service);
  });

  it('creates, replaces, reads, lists and deletes integrations', async () => {
    const created = await client.integrations.put('a/b', integrations.metabase, { ifNoneMatch: '*' });
    assert.deepEqual([created.integration.integration_id, created.integration.version], ['a/b', 1]);
    const { secret: _, ...without } = integrations.metabase;
    const replaced = await client.integrations.put(
      'a/b',
      { ...without, ttl_seconds: 90 },
      { ifMatch: created.etag },
    );
    assert.deepEqual(await client.integrations.read('a/b'), replaced);
    await client.integrations.put('jwt', integrations.jwt);
    const ids = await Array.fromAsync(client.integrations.list({ limit: 1 }), (each) => each.integration_id);
    assert.deepEqual(ids, ['a/b', 'jwt']);
    await client.integrations.delete('a/b', { ifMatch: replaced.etag });
    await assert.rejects(client.integrations.read('a/b'), { code: 'not_found' });
  });

  it('keeps the earlier methods for integrations', async () => {
    const { etag } = await client.putIntegration('earlier', integrations.jwt);
    assert.deepEqual(await client.readIntegration('earlier'), await client.integrations.read('earlier'));
    const ids = await Array.fromAsync(client.listIntegrations(), (each) => each.integration_id);
    assert.ok(ids.includes('earlier'));
    await client.deleteIntegration('earlier', { ifMatch: etag });
    await assert.rejects(client.integrations.read('earlier'), { code: 'not_found' });
  });

  it('mints embed tokens by token and by id, which resolve', async () => {
    const { user_group } = await client.getOrCreate({
      user_group_id: 'a',
      name: 'A',
      properties: { region: 'r' },
    });
    const byToken = await client.createEmbedToken({
      integration: 'jwt',
      token: user_group.token,
      viewer: 'v',
    });
    assert.deepEqual(Object.keys(byToken), ['token', 'type', 'expires_at']);
    const byId = await client.createEmbedToken({ integration: 'jwt', user_group_id: 'a' });
    for (const { token, expires_at } of [byToken, byId]) {
      const resolution = await client.resolve(token);
      assert.deepEqual(resolution.token, { status: 'embed', expires_at });
      assert.equal(resolution.user_group.provided_id, 'a');
    }
    await client.update({ user_group_id: 'a', properties: null });
    const request = { integration: 'jwt', user_group_id: 'a' };
    await assert.rejects(
      client.createEmbedToken(request),
      (error: { code: string; errors: { pointer: string }[] }) => {
        assert.deepEqual([error.code, error.errors[0]!.pointer], ['claim_missing', '/properties/region']);
        return true;
      },
    );
    for (const token of ['', undefined, null, 'unknown'])
      await assert.rejects(client.createEmbedToken({ integration: 'jwt', token }), {
        code: 'user_group_token_not_found',
      });
  });

  it('refuses to narrow to undefined, which JSON would omit', async () => {
    await client.replace('n', { name: 'N', properties: { region: 'r', plan: 'gold' } });
    const request = { integration: 'jwt', user_group_id: 'n' };
    for (const narrow of [undefined, { region: undefined }, { plan: 'gold', region: undefined }])
      await assert.rejects(client.createEmbedToken({ ...request, narrow } as never), {
        name: 'TypeError',
        message: /^narrow and its values must not be undefined/,
      });
    await client.createEmbedToken({ ...request, narrow: {} });
    await client.createEmbedToken({ ...request, narrow: { region: 'r' } });
  });

  it('reads and rotates the signing keys', async () => {
    const { issuer, jwks_url, signing_keys } = await client.readSigningKeys();
    assert.deepEqual([jwks_url, signing_keys.length], [`${issuer}/.well-known/jwks.json`, 2]);
    assert.equal((await client.rotateSigningKeys()).signing_keys.length, 4);
    assert.equal((await client.rotateSigningKeys({ revoke: true })).signing_keys.length, 2);
  });
});
