// Lists of documents that are requested at the same time are written in several turns of the event loop.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { whileMonitored } from '../../reliability/support/event-loop.ts';
import { namesOf, Tenant } from '../../reliability/two-tenants/tenant.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { send } from '../support/http.ts';

const DOCUMENTS = 1_000;
const REQUESTS = 200;
/** A page takes 5 to 10 ms. */
const MAX_TURN_CPU_MS = 100;

describeOnEachDatabase('Pages of data sources', (kind) => {
  it(`of 1 MB, ${REQUESTS} at a time, do not block the event loop`, async () => {
    await whileMonitored(kind, async ({ service: { url }, loop, token }) => {
      const tenant = new Tenant({ url, apiToken: token });
      await tenant.putAllowed(namesOf('/v1/data-sources/source', DOCUMENTS), () => ({
        schema_id: 'schema',
        name: 'Source',
        attributes: { note: 'x'.repeat(900) },
      }));
      const path = `/v1/data-sources?limit=${DOCUMENTS}`;
      const [statuses, { longestTurnCpuMs }] = await loop.turnsDuring(() =>
        Promise.all(Array.from({ length: REQUESTS }, async () => (await send(url, { path, token })).status)),
      );
      assert.ok(statuses.includes(200));
      assert.deepEqual(
        statuses.filter((status) => status !== 200 && status !== 503),
        [],
      );
      assert.ok(longestTurnCpuMs <= MAX_TURN_CPU_MS, `${longestTurnCpuMs} ms in one turn`);
    });
  });
});
