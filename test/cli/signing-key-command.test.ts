// Signing keys on the command line, while the service is running.

import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { EmbedSite, integrations } from '../support/embed-token/site.ts';
import { type Exit, Folder, runHosted } from '../support/process.ts';

const PUBLIC_URL = 'https://groups.example.com';

describeOnEachDatabase('signing-key', (database) => {
  const folder = Folder.of();
  const site = EmbedSite.of(database, { env: { UGS_PUBLIC_URL: PUBLIC_URL } });

  function command(name: string, ...args: string[]): Promise<Exit> {
    const place = ['--workspace', 'default', ...args];
    const env = { ...site.service.database.env, UGS_PUBLIC_URL: PUBLIC_URL };
    return runHosted(folder, ['signing-key', name, ...place], { env });
  }

  it('lists nothing before the first integration that needs keys', async () => {
    const { code, stdout } = await command('list', '--json');
    assert.deepEqual([code, JSON.parse(stdout)], [0, { issuer: null, signing_keys: [] }]);
  });

  it('lists the keys as the API does, and prints their public parts', async () => {
    await site.create('jwt', integrations.jwt);
    const { issuer, signing_keys } = (await site.asAdmin('GET', '/v1/signing-keys')).json;
    const { code, stdout } = await command('list', '--json');
    assert.equal(code, 0);
    const listed = JSON.parse(stdout);
    assert.deepEqual(listed, { issuer, signing_keys });
    for (const { public_key } of listed.signing_keys)
      assert.equal(createPublicKey(public_key).type, 'public');
    const table = await command('list');
    assert.match(table.stdout, /^KEY +ALGORITHM +STATUS +SIGNS FROM +PUBLISHED UNTIL\n/);
    assert.match(table.stdout, new RegExp(`${signing_keys[0].kid} +ES256 +signing +\\S+Z +-`));
  });

  it('rotates the keys of a running service, which serves them from the next request on', async () => {
    const { code, stdout } = await command('rotate', '--json');
    assert.equal(code, 0);
    const { signing_keys } = JSON.parse(stdout);
    const statuses = signing_keys.map(({ status }: { status: string }) => status);
    assert.deepEqual(statuses.toSorted(), ['pending', 'pending', 'signing', 'signing']);
    assert.deepEqual((await site.asAdmin('GET', '/v1/signing-keys')).json.signing_keys, signing_keys);
    const revoked = JSON.parse((await command('rotate', '--revoke', '--json')).stdout);
    assert.equal(revoked.signing_keys.length, 2);
    assert.deepEqual((await site.asAdmin('GET', '/v1/signing-keys')).json.signing_keys, revoked.signing_keys);
  });
});
