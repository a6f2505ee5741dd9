// Finds the next tenant with events, and the next webhook endpoint with deliveries, on SQLite, which is
// queried in the thread that serves callers.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Environment } from '../../src/domain/tenant.ts';
import {
  type EndpointPosition,
  startOfWorkspace,
  type WebhookEndpointKey,
} from '../../src/domain/webhook-endpoint/delivery.ts';
import { READS } from '../../src/store/reads.ts';
import { Connection } from '../../src/store/sqlite/file/connection.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const ROWS = 150_000;
/** Limit for a lookup; reading the rows would take five times as long. */
const MAX_MS = 3;
const CALLS = 9;

describe('Among many rows of one key', () => {
  const stack = suiteStack();
  let connection: Connection;
  before(async () => {
    const { database } = stack.use(await TestService.start(sqlite));
    await runSql(database, 'delete from events');
    await runSql(
      database,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ROWS} + 3)
       insert into events (bucket, workspace_id, environment, target_type, target_id, event_id, type, occurred_at, actor)
       select 0, case when i > ${ROWS} then i - ${ROWS} + 6 else 7 end, case when i = ${ROWS} + 1 then 'Later' else 'Customer' end,
         'user_group', 'g', 'evt_' || i, 'user_group.updated', i, '{}' from n`,
    );
    await runSql(
      database,
      `insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type,
         target_id, position, state, attempts, next_attempt_at, created_at)
       select 0, workspace_id, environment, 'whe_1', event_id, type, target_type, target_id, position, 'pending', 0,
         occurred_at, occurred_at from events`,
    );
    await runSql(database, `update deliveries set endpoint_id = 'whe_2' where event_id = 'evt_${ROWS}'`);
    connection = new Connection(database.url.slice('sqlite:'.length));
    stack.defer(() => connection.close());
  });

  /** Returns all keys from the first one on, and the shortest time that it took to find each. */
  function walk<Key>(next: (after: Key | null) => Key | null): { keys: Key[]; times: number[] } {
    const keys: Key[] = [];
    const times: number[] = [];
    for (let key: Key | null = null; ; keys.push(key)) {
      const before = key;
      const calls = Array.from({ length: CALLS }, () => {
        const startedAt = performance.now();
        key = next(before);
        return performance.now() - startedAt;
      });
      times.push(Math.min(...calls));
      if (key === null) return { keys, times };
    }
  }

  it('the next tenant with events is found without reading them', () => {
    const { keys, times } = walk((after: { workspaceId: number; environment: Environment } | null) =>
      connection.read(READS.findNextTenant({ after })),
    );
    assert.deepEqual(
      keys.map(({ workspaceId, environment }) => [workspaceId, environment]),
      [
        [7, 'Customer'],
        [7, 'Later'],
        [8, 'Customer'],
        [9, 'Customer'],
      ],
    );
    assert.ok(Math.max(...times) < MAX_MS, `${times.map((time) => time.toFixed(2))} ms`);
  });

  const findNext = {
    deliveries: (after: EndpointPosition) => connection.read(READS.findNextEndpoint({ after })),
    'pending deliveries': (after: EndpointPosition) =>
      connection.read(READS.findPendingEndpoint({ after }))?.endpoint ?? null,
  };
  for (const [what, find] of Object.entries(findNext))
    it(`the next webhook endpoint with ${what} is found without reading them`, () => {
      const { keys, times } = walk((after: WebhookEndpointKey | null) => find(after ?? startOfWorkspace(0)));
      assert.deepEqual(
        keys.map(({ workspaceId, environment, endpointId }) => [workspaceId, environment, endpointId]),
        [
          [7, 'Customer', 'whe_1'],
          [7, 'Customer', 'whe_2'],
          [7, 'Later', 'whe_1'],
          [8, 'Customer', 'whe_1'],
          [9, 'Customer', 'whe_1'],
        ],
      );
      assert.ok(Math.max(...times) < MAX_MS, `${times.map((time) => time.toFixed(2))} ms`);
    });
});
