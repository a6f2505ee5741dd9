// PostgreSQL executes statements without compiling them, and reading only the rows that they need.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import pg from 'pg';
import type { Bucket } from '../../src/domain/bucket.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { purgeEvents } from '../../src/operations/event/purge.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import { ConnectionPool } from '../../src/store/postgres/client/pool.ts';
import { INSERT } from '../../src/store/postgres/event/record.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { FIND, RESOLVE } from '../../src/store/postgres/user-group/find-by-imported-token.ts';
import { postgres } from '../support/database.ts';
import { optionsFor } from '../support/postgres/options.ts';
import { eventually } from '../support/process.ts';
import { SqlConnection } from '../support/sql.ts';

const OTHER_EVENTS = 1_000;
/** Several batches. */
const OLD_ROWS = 4_000;
const INDEX_OF_OLD_ROWS = {
  events: 'events_feed',
  deliveries: 'deliveries_endpoint',
  usage_counts: 'usage_counts_day',
};
/** Number of rows of one workspace; each of the others has one. */
const LARGE = 1_000;
const BUCKETS = 500;
const GROUPS_PER_BUCKET = 20;
const LIMITS = { maxBatch: 256, maxInFlight: 1, maxLingerMs: 0, maxQueued: 100 };

it('Statements are not compiled', () =>
  withDatabase(async (pool) => {
    const rows = await pool.run((session) => session.query({ name: 'show_jit', sql: 'show jit' }));
    assert.deepEqual(rows, [['off']]);
  }));

it('Inserting an event while other transactions end reads no event of another target, even if the table has no statistics', () =>
  withDatabase(async (pool, other) => {
    // Plans the statement for an empty table.
    await pool.run((session) => session.query(INSERT, eventAbout('first')));
    await other.query(
      `insert into events (bucket, workspace_id, environment, target_type, target_id, event_id, position, type,
         occurred_at, actor)
       select 1, 1, 'Customer', 'user_group', 'other ' || i, 'evt_' || i, i, 'user_group.created', 1, '{}'
       from generate_series(1, ${OTHER_EVENTS}) as i`,
    );
    const [row] = await pool.transaction(async (session) => {
      await session.query({ name: 'begin_writing', sql: 'select pg_current_xact_id()' });
      await other.query('select pg_current_xact_id()');
      return session.query({
        name: 'explain',
        sql: `explain (analyze, format json) execute ${INSERT.name}(${eventAbout('second').map(literalOf).join()})`,
      });
    }, true);
    const plan = String(row![0]);
    assert.match(plan, /"Relation Name": "events"/);
    assert.deepEqual(rowsRemoved(plan), []);
  }));

for (const { name, sql } of [FIND, RESOLVE])
  it(`${name} reads no other group of the bucket`, () =>
    withDatabase(async (pool, other) => {
      await other.query(
        `insert into user_groups (bucket, workspace_id, environment, provided_id, team_id, name, version, token_digest,
           token_key_id, token_ciphertext, previous_token_digest, created_at, updated_at)
         select i % ${BUCKETS}, 1, 'Customer', i, i, '', 1, 'current ' || i, '', '', 'previous ' || i, 1, 1
         from generate_series(1, ${BUCKETS * GROUPS_PER_BUCKET}) as i`,
      );
      await other.query('analyze user_groups');
      const values = [['unknown'], [1], ['Customer'], ...(name === RESOLVE.name ? [[1]] : [])];
      const explain = {
        name: 'explain',
        sql: `explain (analyze, format json) execute ${name}(${values.map(literalOf).join()})`,
      };
      const [row] = await pool.run(async (session) => {
        await session.query({ name, sql }, values);
        return session.query(explain);
      });
      assert.deepEqual(rowsRemoved(String(row![0])), []);
    }));

it('Deleting old rows in batches reads none of those that are deleted, although another transaction keeps them', async () => {
  await using database = await postgres.create();
  const opened = await openPostgresStore(optionsFor(database.url));
  await using other = await SqlConnection.open(database.url);
  const rows = `from generate_series(1, ${OLD_ROWS}) as i`;
  await other.query(
    `insert into events (bucket, workspace_id, environment, target_type, target_id, event_id, position, type,
       occurred_at, actor)
     select 1, 1, 'Customer', 'user_group', i, 'evt_0' || i, i / 10, 'user_group.created', 1, '{}' ${rows};
     insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type,
       target_id, position, state, attempts, created_at)
     select 1, 1, 'Customer', 'hook', 'evt_00' || i, 'user_group.created', 'user_group', i, i, 'failed', 1, 1 ${rows};
     insert into usage_counts select 1, 1, 'Customer', i, i / 100, 'resolves', '', 1 ${rows};
     insert into documents select 1, 'Customer', 'webhook_endpoint', 'hook', 1, '{}', null, null, 1, 1;
     analyze`,
  );
  await other.query('begin isolation level repeatable read; select 1 from events');
  const store = BatchingStore.create(opened, { read: LIMITS, write: LIMITS });
  const now = Date.now();
  const purged = await purgeEvents({ store, now, before: now, pauseMs: 0 });
  assert.deepEqual(purged, { events: OLD_ROWS, deliveries: OLD_ROWS, usage: OLD_ROWS });
  await opened.close();
  await other.query('commit');
  for (const [table, index] of Object.entries(INDEX_OF_OLD_ROWS)) {
    const read = await entriesRead(other, table, index);
    assert.ok(read < 4 * OLD_ROWS, `${read} entries of ${index} for ${OLD_ROWS} rows`);
  }
});

it('Statements about one row of an environment that is larger than most read no others', async () => {
  await using database = await postgres.create();
  const store = await openPostgresStore(optionsFor(database.url));
  await using other = await SqlConnection.open(database.url);
  const rows = `(select i, greatest(1, i - ${LARGE}) as w from generate_series(1, ${2 * LARGE}) as i) as rows`;
  await other.query(
    `insert into events (bucket, workspace_id, environment, target_type, target_id, event_id, position, type,
       occurred_at, actor)
     select i % 100, w, 'Customer', 'user_group', 'group ' || i, 'evt_' || i, i, 'user_group.created', 1, '{}'
     from ${rows};
     insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type,
       target_id, position, state, next_attempt_at, attempts, created_at)
     select 1, w, 'Customer', 'hook ' || w, 'evt_' || i, 'user_group.created', 'user_group', i, i,
       case when i < ${LARGE} then 'pending' else 'failed' end, case when i < ${LARGE} then i end, 1, 1 from ${rows};
     insert into usage_counts select i % 100, w, 'Customer', 'group ' || i, i % 60, 'resolves', '', 1 from ${rows};
     insert into usage_counts select 5, 1, 'Customer', 'group 5', ${LARGE} + i, 'resolves', '', 1
     from generate_series(1, ${LARGE}) as i;
     insert into user_group_renames
     select i % 100, w, 'Customer', 'group ' || i, i, 'evt_' || i, 'to', '', 1 from ${rows};
     insert into user_group_renames select 5, 1, 'Customer', 'group 5', i, 'evt_' || i, 'to', '', 1
     from generate_series(${LARGE} + 1, ${2 * LARGE}) as i;
     insert into user_groups (bucket, workspace_id, environment, provided_id, team_id, name, version, token_digest,
       token_key_id, token_ciphertext, created_at, updated_at)
     select i % 100, w, 'Customer', 'group ' || i, i, 'name ' || i, 1, i, '', '', 1, 1 from ${rows};
     analyze`,
  );
  const tenant = { workspaceId: 1, environment: 'Customer' } as const;
  const endpoint = { ...tenant, endpointId: 'hook 1' };
  const key = { ...tenant, bucket: 5 as Bucket, providedId: 'group 5' };
  const target = { type: 'user_group', id: 'group 5' } as const;
  const range = { after: 0, upTo: Number.MAX_SAFE_INTEGER };
  const events = { tenant, target, type: null, after: null, limit: 9, scanLimit: 99, maxBytes: 999 };
  const delivery = { ...tenant, bucket: 1 as Bucket, endpointId: 'hook 1', eventId: 'evt_1' };
  const attempt = { claimedUntil: 99, state: 'delivered', nextAttemptAt: null, attemptedAt: 1 } as const;
  const from = { name: 'name 9', providedId: '' };
  const search = { tenant, from, text: '999', scanLimit: LARGE, limit: 9 };
  await store.read([
    { kind: 'listEvents', ...events, order: 'newest' },
    { kind: 'listEvents', ...events, order: 'oldest' },
    { kind: 'listDeliveries', endpoint, before: null, limit: 9, isFailed: true },
    { kind: 'listUsageOfUserGroup', key, from: 2 * LARGE, to: 3 * LARGE, limit: 9 },
    { kind: 'findLastRename', key, before: LARGE },
    { kind: 'findNextRename', key, from: 2 * LARGE },
    { kind: 'searchUserGroups', ...search },
  ]);
  await store.write([{ kind: 'eraseChanges', key, range, limit: 9, scanLimit: 99 }]);
  await store.write([{ kind: 'claimDeliveries', endpoint, due: { from: 1, to: 1 }, until: 99, limit: 1 }]);
  const outcome = { responseStatus: 200, error: null, attemptLog: '[]' as JsonText };
  await store.write([{ kind: 'finishAttempts', attempts: [{ key: delivery, ...attempt, ...outcome }] }]);
  await store.close();
  // The search itself reads the 111 groups that follow its start.
  const expected = { events: 20, deliveries: 20, usage_counts: 20, user_group_renames: 20, user_groups: 400 };
  for (const [table, limit] of Object.entries(expected)) {
    const read = await entriesRead(other, table, '%');
    assert.ok(read < limit, `${read} entries of the indexes of ${table}`);
  }
  const { rows: finished } = await other.query("select state from deliveries where event_id = 'evt_1'");
  assert.deepEqual(finished, [{ state: 'delivered' }]);
  // Its entries that do not match are not counted.
  const byDay =
    "select idx_scan::integer as scans from pg_stat_user_indexes where indexrelname = 'usage_counts_day'";
  assert.deepEqual((await other.query(byDay)).rows, [{ scans: 0 }]);
});

/** Number of entries of the indexes that a connection has read, which it reports when it closes. */
function entriesRead(client: pg.Client, table: string, index: string): Promise<number> {
  const sql = `select nullif(sum(idx_tup_read), 0)::integer as read from pg_stat_user_indexes
    where relname = $1 and indexrelname like $2`;
  return eventually(`reads of ${table}`, async () => (await client.query(sql, [table, index])).rows[0].read);
}

/** Number of rows that each step of the plan has read needlessly. */
function rowsRemoved(plan: string): number[] {
  const counts = [...plan.matchAll(/"Rows Removed by (?:Join )?Filter": (\d+)/g)];
  return counts.map(([, count]) => Number(count)).filter((count) => count > 0);
}

function eventAbout(target: string): unknown[][] {
  const columns = [
    1,
    1,
    'Customer',
    'user_group',
    target,
    `evt_${target}`,
    'user_group.updated',
    1,
    '{}',
    null,
    1,
    null,
    0,
  ];
  return columns.map((value) => [value]);
}

function literalOf([value]: unknown[]): string {
  return value === null
    ? 'array[null]'
    : `array[${typeof value === 'string' ? pg.escapeLiteral(value) : value}]`;
}

async function withDatabase(work: (pool: ConnectionPool, other: pg.Client) => Promise<void>): Promise<void> {
  const database = await postgres.create();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => database.drop());
  const options = optionsFor(database.url);
  await openPostgresStore(options).then((store) => store.close());
  const pool = new ConnectionPool(options);
  stack.defer(() => pool.close());
  const other = await SqlConnection.open(database.url);
  stack.defer(() => other.end());
  await work(pool, other);
}
