// The serving process writes the last use of API tokens in batches: within seconds, or when it shuts down.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeOnEachDatabase } from '../support/database.ts';
import { eventually, runHosted, ServedDatabase } from '../support/process.ts';

const HOUR_MS = 3_600_000;
/** Less than the interval of the batches, which is seconds. */
const POLL_MS = 250;

describeOnEachDatabase('The last use of an API token', (kind) => {
  const site = ServedDatabase.of(kind);

  async function listed(id: number): Promise<string | null> {
    const { stdout } = await runHosted(site.folder, ['api-token', 'list', '--json'], site.onDatabase);
    return JSON.parse(stdout).find((each: { id: number }) => each.id === id).last_used_at;
  }

  // The last one stops the service.
  const ends: Record<string, () => Promise<unknown>> = {
    'while the process is running': async () => {},
    'when the process shuts down': async () => {
      site.service.signal('SIGTERM');
      assert.equal((await site.service.exit()).code, 0);
    },
  };
  for (const [when, end] of Object.entries(ends)) {
    it(`is written ${when}`, async () => {
      const { id, token } = await site.apiToken();
      assert.equal(await listed(id), null);
      const before = Date.now();
      await site.call('GET', '/v1/user-groups', undefined, token);
      await end();
      const written = await eventually(
        'the last use',
        async () => (await listed(id)) ?? sleep(POLL_MS, null),
      );
      const lastUsedAt = Date.parse(written);
      assert.equal(lastUsedAt % HOUR_MS, 0);
      assert.ok(lastUsedAt <= before && lastUsedAt > before - HOUR_MS);
    });
  }
});
