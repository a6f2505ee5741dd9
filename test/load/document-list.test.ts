// Lists of documents, and plans that keep many, are written in several turns of the event loop if they are requested at
// the same time.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { whileMonitored } from '../../reliability/support/event-loop.ts';
import { namesOf, Tenant } from '../../reliability/two-tenants/tenant.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { send } from '../support/http.ts';

const DOCUMENTS = 1_000;
const REQUESTS = 200;
const MAX_TURN_CPU_MS = 100;

describeOnEachDatabase('Data sources', (kind) => {
  it(`in full pages, ${REQUESTS} at a time, do not block the event loop`, async () => {
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

  it(`that ${REQUESTS} plans at a time keep do not block the event loop`, async () => {
    await whileMonitored(kind, async ({ service: { url }, loop, token }) => {
      const tenant = new Tenant({ url, apiToken: token });
      for (let part = 0; part < 10; part++)
        await tenant.call('PUT', '/v1/config', {
          version: 1,
          data_sources: Object.fromEntries(
            namesOf(`source-${part}`, DOCUMENTS).map((id) => [id, { schema_id: 'schema', name: 'Source' }]),
          ),
        });
      const request = { method: 'PUT', path: '/v1/config?dry_run=true', token };
      const body = { version: 1, data_sources: {} };
      const [statuses, { longestTurnCpuMs }] = await loop.turnsDuring(() =>
        Promise.all(
          Array.from({ length: REQUESTS }, async () => (await send(url, { ...request, body })).status),
        ),
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
