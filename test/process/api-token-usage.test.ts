// The serving process writes the last use of API tokens in batches: within seconds, or when it shuts down.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { createApiToken, eventually, Folder, runHosted, type Service, serve } from '../support/process.ts';

const HOUR_MS = 3_600_000;

describeOnEachDatabase('The last use of an API token', (kind) => {
  const ends: Record<string, (service: Service) => Promise<unknown>> = {
    'while the process is running': async () => {},
    'when the process shuts down': async (service) => {
      service.signal('SIGTERM');
      assert.equal((await service.exit()).code, 0);
    },
  };
  for (const [when, end] of Object.entries(ends)) {
    it(`is written ${when}`, async () => {
      using folder = new Folder();
      await using database = await kind.create();
      const { env } = database;
      await using service = await serve(folder, { env });
      const { token } = await createApiToken(folder, [], { env });
      const listed = async (): Promise<string | null> => {
        const { stdout } = await runHosted(folder, ['api-token', 'list', '--json'], { env });
        return JSON.parse(stdout)[0].last_used_at;
      };
      assert.equal(await listed(), null);
      const before = Date.now();
      await service.call(token, 'GET', '/v1/user-groups');
      await end(service);
      const lastUsedAt = Date.parse(await eventually('the last use', listed));
      assert.equal(lastUsedAt % HOUR_MS, 0);
      assert.ok(lastUsedAt <= before && lastUsedAt > before - HOUR_MS);
    });
  }
});
