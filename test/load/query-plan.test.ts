// Query plans: lookups use indexes, however fast the database has grown.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const GROUPS = 5_000;
const LOOKUPS = 50;

describe('a database that has grown from empty within seconds', () => {
  const stack = suiteStack();
  let service: TestService;
  let client: SqlConnection;
  before(async () => {
    const env = { UGS_QUEUE_LIMIT: String(GROUPS), UGS_POSTGRES_POOL_SIZE: '1' };
    service = stack.use(await TestService.start(postgres, { env }));
    client = stack.use(await SqlConnection.open(service.database.url));
    // The connection makes its plans now, for an empty table, and caches a plan after some executions.
    for (let call = 0; call < 20; call++) await lookUp(call);
    await Promise.all(
      Array.from({ length: GROUPS }, (_, index) =>
        service.get({ user_group_id: `group-${index}`, name: `Group ${index}` }),
      ),
    );
    await Promise.all(
      Array.from({ length: GROUPS }, (_, index) =>
        service.importGroup({ user_group_id: `imported-${index}`, name: 'I', token: importedToken(index) }),
      ),
    );
  });

  async function lookUp(index: number): Promise<void> {
    const { json } = await service.get({ user_group_id: `group-${index}` });
    if (json.success === 1) await service.resolve(json.user_group.token);
    await service.resolve(importedToken(index));
  }

  function importedToken(index: number): string {
    return `token of another system ${index}`.replaceAll(' ', '-');
  }

  /** Returns the number of full scans. */
  async function countFullScans(): Promise<number> {
    // A connection reports its statistics at the end of a statement, and at most once a second.
    await sleep(1_100);
    await lookUp(0);
    const { rows } = await client.query(
      "select sum(seq_scan) from pg_stat_user_tables where relname in ('user_groups', 'imported_tokens')",
    );
    return Number(rows[0].sum);
  }

  it('needs no full scan to look up a group, a token or an imported token', async () => {
    const before = await countFullScans();
    // One at a time: for a large batch, a full scan of a table of this size may be the best plan.
    for (let index = 0; index < LOOKUPS; index++) await lookUp(index);
    assert.equal(await countFullScans(), before);
  });
});

describe('a database with many events', () => {
  const EVENTS = 200_000;
  const stack = suiteStack();
  let service: TestService;
  let client: SqlConnection;
  before(async () => {
    service = stack.use(await TestService.start(postgres, { env: { UGS_POSTGRES_POOL_SIZE: '1' } }));
    await service.get({ user_group_id: 'group', name: 'Group' });
    client = stack.use(await SqlConnection.open(service.database.url));
    await client.query(
      `insert into events (bucket, workspace_id, environment, target_type, target_id, event_id, position, type,
         occurred_at, actor, version, changes)
       select i % 16384, workspace_id, environment, target_type, 'generated ' || i, event_id || i, position + i, type,
         occurred_at, actor, version, changes
       from events, generate_series(1, ${EVENTS}) as i where target_id = 'group'`,
    );
    await client.query('vacuum analyze events');
  });

  async function countWorkers(): Promise<number> {
    // A connection reports its statistics at the end of a statement, and at most once a second.
    await sleep(1_100);
    await service.get({ user_group_id: 'group' });
    const { rows } = await client.query(
      'select parallel_workers_to_launch from pg_stat_database where datname = current_database()',
    );
    return Number(rows[0].parallel_workers_to_launch);
  }

  it('starts no parallel workers to list a page of them, which takes longer than to read it', async () => {
    const before = await countWorkers();
    for (const query of ['limit=50', 'order=oldest&limit=50', 'type=user_group.created&limit=50']) {
      const { json } = await service.call('GET', `/v1/events?${query}`);
      assert.equal(json.events.length, 50);
    }
    assert.equal(await countWorkers(), before);
  });
});
