// SQLite queries for failed deliveries run in the thread that serves callers. An endpoint can have millions of
// deliveries, of which few have failed, so a query must not read the others.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { READS } from '../../src/store/reads.ts';
import { FIND_FAILED } from '../../src/store/sqlite/webhook-endpoint/delivery.ts';
import { sqlite } from '../support/database.ts';
import { runSql } from '../support/sql.ts';
import { openStore } from '../support/store.ts';

const endpoint = { workspaceId: 1, environment: 'Customer', endpointId: 'crm' } as const;
const PLACE = 'workspace_id=? AND environment=? AND endpoint_id=?';
const queries = {
  'lists the newest': READS.listDeliveries({ endpoint, before: null, limit: 9, isFailed: true }),
  'finds the oldest': READS.findFirstFailedAt({ endpoint }),
  'finds those to retry': { statement: FIND_FAILED },
};

for (const [title, { statement }] of Object.entries(queries))
  it(title, async () => {
    await using database = await sqlite.create();
    await (await openStore(database.url)).close();
    const steps = (await runSql(database, `explain query plan ${statement.sql}`)).map(({ detail }) =>
      String(detail),
    );
    const [delivery, failed, ...others] = steps.filter((step) => /^(?:SEARCH|SCAN deliveries)/.test(step));
    assert.ok(delivery!.endsWith(`(${PLACE} AND event_id=?)`), steps.join());
    assert.match(failed!, /^SEARCH deliveries USING COVERING INDEX deliveries_failed /);
    assert.deepEqual(others, []);
  });
