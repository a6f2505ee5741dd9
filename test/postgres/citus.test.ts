// On Citus user groups are spread over the nodes by their bucket, and everything small is on every node. The suite
// itself runs on a cluster too, beside the other databases, where TEST_CITUS_URL names its coordinator.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { citus } from '../database.ts';
import { TestService } from '../service.ts';

const GROUPS = 500;
const skip =
  !process.env.TEST_CITUS_URL && 'TEST_CITUS_URL names no coordinator: nothing of the suite has run on Citus';

describe('a Citus cluster', { skip }, () => {
  let service: TestService;
  let client: pg.Client;
  before(async () => {
    service = await TestService.start(citus);
    client = new pg.Client(service.database.url);
    await client.connect();
  });
  after(async () => {
    await client.end();
    await service.end();
  });

  it('has user groups by bucket, and every other table on all nodes', async () => {
    const { rows } = await client.query(
      `select table_name::text, citus_table_type, distribution_column from citus_tables order by table_name::text`,
    );
    assert.deepEqual(
      rows.map((row) => Object.values(row)),
      [
        ['api_tokens', 'reference', '<none>'],
        ['id_blocks', 'reference', '<none>'],
        ['token_keys', 'reference', '<none>'],
        ['user_groups', 'distributed', 'bucket'],
        ['workspaces', 'reference', '<none>'],
      ],
    );
  });

  it('spreads the groups of one workspace over all of its workers', async () => {
    const ids = Array.from({ length: GROUPS }, (_, index) => `group-${index}`);
    const answers = await Promise.all(ids.map((id) => service.get({ user_group_id: id, name: id })));
    assert.ok(answers.every(({ json }) => json.new_user_group));
    const { rows: workers } = await client.query('select 1 from pg_dist_node where shouldhaveshards');
    const { rows: filled } = await client.query(
      `select distinct nodename, nodeport
       from run_command_on_shards('user_groups', 'select count(*) from %s') as counted
       join citus_shards using (shardid) where counted.result <> '0'`,
    );
    assert.equal(filled.length, workers.length);
  });
});
