// On Citus, user groups are distributed over the nodes by bucket, and small tables are replicated to every
// node. If TEST_CITUS_URL is set to the coordinator of a cluster, the whole suite runs on it in addition to
// the other databases.

import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { nameShards } from '../../src/store/postgres/schema/citus.ts';
import { FIND as FIND_IMPORTED } from '../../src/store/postgres/user-group/imported-token.ts';
import { FIND_BY_KEY, FIND_BY_TOKEN } from '../../src/store/postgres/user-group/user-group.ts';
import type { Statement } from '../../src/store/statement.ts';
import { citus, postgres } from '../support/database.ts';
import { FAULT_MS, Installation } from '../support/faults/installation.ts';
import { TestService } from '../support/service.ts';
import { runSql, SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const GROUPS = 500;
const PERIOD_MS = 100;
/**
 * Longer than citus.recover_2pc_interval on the coordinator, after which Citus deletes records that it can
 * settle.
 */
const FEED_DELAY_MS = 3_000;
/** Distributed table in a statement, with its alias. */
const DISTRIBUTED_TABLE =
  /(?:from|join|update) (user_groups|user_group_renames|events|deliveries|usage_counts)(?: as (\w+))?/g;
const skip = !process.env.TEST_CITUS_URL && 'TEST_CITUS_URL is not set: no test has run on Citus';

describe('a statement for many groups', async () => {
  const modules = await Promise.all(
    globSync(['src/store/*.ts', 'src/store/postgres/**/*.ts']).map(
      (file) => import(`../../${file}`) as Promise<object>,
    ),
  );
  const all = modules
    .flatMap((module) => [module, ...Object.values(module)])
    .flatMap((each) => Object.values(Object(each)) as (Partial<Statement> | null | undefined)[])
    .filter((each): each is Statement => each?.sql !== undefined);
  const hasBuckets = ({ sql }: Statement) => sql.includes('unnest($1::integer[]');
  const statements = all.filter((each) => hasBuckets(each) && !each.sql.startsWith('insert'));

  const service = TestService.of(postgres);

  it('exists', () => assert.ok(statements.length >= 6));

  it('is the only kind that gets a restriction, because another parameter would be taken for the buckets', () => {
    const restricted = all.filter(({ sql }) => nameShards(sql) !== sql);
    assert.deepEqual(
      restricted.filter((each) => !hasBuckets(each)).map(({ name }) => name),
      [],
    );
  });

  for (const { name, sql } of statements) {
    it(`restricts the query to the shards of its batch on Citus: ${name}`, () => {
      const tables = [...sql.matchAll(DISTRIBUTED_TABLE)].map(([, table, alias]) => alias ?? table!);
      assert.notEqual(tables.length, 0);
      for (const table of tables) {
        assert.ok(nameShards(sql).includes(`${table}.bucket = any ($1::integer[])`), table);
      }
    });

    it(`is valid with that restriction: ${name}`, async () => {
      await runSql(service.database, `prepare ${name} as ${nameShards(sql)}`);
    });
  }
});

describe('a Citus cluster', { skip }, () => {
  const stack = suiteStack();
  let service: TestService;
  let client: SqlConnection;
  before(async () => {
    service = stack.use(await TestService.start(citus));
    client = stack.use(await SqlConnection.open(service.database.url));
  });

  it('distributes user groups and their events by bucket and imported tokens by digest, and replicates every other table', async () => {
    const { rows } = await client.query(
      `select table_name::text, citus_table_type, distribution_column from citus_tables order by table_name::text`,
    );
    assert.deepEqual(
      rows.map((row) => Object.values(row)),
      [
        ['api_tokens', 'reference', '<none>'],
        ['deliveries', 'distributed', 'bucket'],
        ['documents', 'reference', '<none>'],
        ['environment_figures', 'reference', '<none>'],
        ['environments', 'reference', '<none>'],
        ['event_positions', 'reference', '<none>'],
        ['events', 'distributed', 'bucket'],
        ['failing_webhook_endpoints', 'reference', '<none>'],
        ['id_blocks', 'reference', '<none>'],
        ['id_leases', 'reference', '<none>'],
        ['imported_tokens', 'distributed', 'token_digest'],
        ['token_keys', 'reference', '<none>'],
        ['usage_counts', 'distributed', 'bucket'],
        ['user_group_renames', 'distributed', 'bucket'],
        ['user_groups', 'distributed', 'bucket'],
        ['workspaces', 'reference', '<none>'],
      ],
    );
  });

  it('queries one shard for a group, by id or by token, and for an imported token', async () => {
    const lookups: [Statement, unknown[]][] = [
      [FIND_BY_KEY, [[1], [1], ['Customer'], ['group']]],
      [FIND_BY_TOKEN, [[1], ['digest'], [1], ['Customer']]],
      [FIND_IMPORTED, [['~digest']]],
    ];
    for (const [{ sql }, values] of lookups) {
      const { rows } = await client.query(`explain ${nameShards(sql)}`, values);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(plan, /Task Count: 1\n/);
    }
  });

  it('returns an event in the feed only when Citus knows that all workers have committed', async () => {
    const { token } = await service.apiToken({ workspaceName: 'Feed' });
    const targets = async (): Promise<string[]> => {
      const { json } = await service.call('GET', '/v1/events?order=oldest', undefined, { token });
      return json.events.map(({ target }: { target: { id: string } }) => target.id);
    };
    const waitFor = async (id: string): Promise<void> => {
      while (!(await targets()).includes(id)) await sleep(PERIOD_MS);
    };
    await service.get({ user_group_id: 'first', name: 'First' }, { token });
    await waitFor('first');
    // Record of a prepared transaction on a node that does not exist, so that Citus never finds it committed.
    await client.query(`insert into pg_dist_transaction (groupid, gid) values (-1, 'citus_0_0_0_0')`);
    await service.get({ user_group_id: 'second', name: 'Second' }, { token });
    await sleep(FEED_DELAY_MS);
    assert.ok(!(await targets()).includes('second'));
    await client.query('delete from pg_dist_transaction where groupid = -1');
    await waitFor('second');
  });

  it('distributes the groups of one workspace over all workers', async () => {
    const ids = Array.from({ length: GROUPS }, (_, index) => `group-${index}`);
    const responses = await Promise.all(ids.map((id) => service.get({ user_group_id: id, name: id })));
    assert.ok(responses.every(({ json }) => json.new_user_group));
    const { rows: workers } = await client.query('select 1 from pg_dist_node where shouldhaveshards');
    const { rows: filled } = await client.query(
      `select distinct nodename, nodeport
       from run_command_on_shards('user_groups', 'select count(*) from %s') as counted
       join citus_shards using (shardid) where counted.result <> '0'`,
    );
    assert.equal(filled.length, workers.length);
  });
});

describe('Citus workers that lose the connection to their coordinator', { skip }, () => {
  it('ten times a second lose no acknowledged change and apply none twice', async (test) => {
    await using site = await Installation.start({
      processes: 2,
      database: await citus.create(),
      proxied: false,
    });
    const operator = await site.operator();
    using callers = site.callers();
    const end = performance.now() + FAULT_MS;
    while (performance.now() < end) {
      await operator.query('select run_command_on_workers($1)', [
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name like 'citus_internal%' and pid <> pg_backend_pid()`,
      ]);
      await sleep(PERIOD_MS);
    }
    await site.waitForRecovery(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
    assert.ok(callers.unavailable > 0);
  });
});
