// The public keys of an issuer, which anyone may request.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { EmbedSite, integrations } from '../support/embed-token/site.ts';

describeOnEachDatabase('A key set', (database) => {
  it('costs as little with a large catalogue as without one', async () => {
    const env = { UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: '0' };
    const site = await EmbedSite.start(database, { env });
    try {
      await site.create('jwt', integrations.jwt);
      const issuer = new URL((await site.asAdmin('GET', '/v1/signing-keys')).json.issuer).pathname;
      const read = async () => {
        const before = process.cpuUsage();
        for (let call = 0; call < 50; call++)
          await site.service.call('GET', `${issuer}/.well-known/jwks.json`, undefined, { token: null });
        const { user, system } = process.cpuUsage(before);
        return user + system;
      };
      await read();
      const without = await read();
      const attributes = { text: 'x'.repeat(15_000) };
      for (let source = 0; source < 100; source++) {
        const body = { schema_id: '40', name: 'Large', attributes };
        await site.asAdmin('PUT', `/v1/data-sources/${source}`, body);
      }
      const ratio = (await read()) / without;
      assert.ok(ratio < 3, `${ratio.toFixed(1)} times the processor time`);
    } finally {
      await site.service.end();
    }
  });
});
