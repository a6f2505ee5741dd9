// Searches compare texts in several turns of the event loop, also texts that take long to compare.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { whileMonitored } from '../../reliability/support/event-loop.ts';
import { namesOf, Tenant } from '../../reliability/two-tenants/tenant.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { send } from '../support/http.ts';
import { eventually, served } from '../support/process.ts';

/** A character that stands for 18 letters. */
const LONG = '\ufdfa';
const GROUPS = 2_000;
const DATA_SOURCES = 2_000;
const REQUESTS = 20;
const MAX_TURN_CPU_MS = 150;

describeOnEachDatabase('A search', (kind) => {
  it('of names does not block the event loop', async () => {
    await whileMonitored(kind, async ({ service: { url }, loop, token }) => {
      const tenant = new Tenant({ url, apiToken: token });
      const fieldsOf = () => ({ name: LONG.repeat(255) });
      await tenant.storeGroups(GROUPS, fieldsOf, encodeURIComponent(LONG.repeat(240)));
      const path = '/v1/user-groups?limit=1000&match=contains&search=nothing';
      const [, { longestTurnCpuMs }] = await loop.turnsDuring(() =>
        searchOften(url, path, { authorization: `Token ${token}` }),
      );
      assert.ok(longestTurnCpuMs <= MAX_TURN_CPU_MS, `${longestTurnCpuMs} ms in one turn`);
    });
  });

  it('of ids in the catalogue of the console does not block the event loop', async () => {
    await whileMonitored(kind, async ({ service: { url }, loop, token }) => {
      const tenant = new Tenant({ url, apiToken: token });
      const paths = namesOf(`/v1/data-sources/${encodeURIComponent(LONG.repeat(200))}`, DATA_SOURCES);
      await tenant.putAllowed(paths, () => ({ schema_id: 'schema', name: 'Source' }));
      const cookie = await tenant.signIn();
      const path = '/console/catalogue/data-sources?id=nothing';
      // Reads the catalogue.
      await served(() => send(url, { path, headers: { cookie } }));
      const [, { longestTurnCpuMs }] = await loop.turnsDuring(() => searchOften(url, path, { cookie }));
      assert.ok(longestTurnCpuMs <= MAX_TURN_CPU_MS, `${longestTurnCpuMs} ms in one turn`);
    });
  });
});

/** Sends the request many times at once, and again while a busy machine refuses all of them. */
async function searchOften(url: string, path: string, headers: Record<string, string>): Promise<void> {
  await eventually('a search', async () => {
    const responses = await Promise.all(Array.from({ length: REQUESTS }, () => send(url, { path, headers })));
    const statuses = new Set(responses.map(({ status }) => status));
    assert.deepEqual(
      [...statuses].filter((status) => status !== 200 && status !== 503),
      [],
    );
    return statuses.has(200);
  });
}
