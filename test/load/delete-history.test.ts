// A user group with a long history can be deleted: each attempt continues where the one before stopped.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { computeBucket } from '../../src/domain/bucket.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const EVENTS = 300_000;
/** Even, so that the group has its first id again at the end. */
const RENAMES = 4_000;
const MAX_ATTEMPTS = 12;
/** Five seconds that every response may take, and one that a busy test machine may lose. */
const MAX_RESPONSE_MS = 6_000;

describeOnEachDatabase(`A user group with ${EVENTS} events`, (kind) => {
  const service = TestService.of(kind, { returnsOverloaded: true });
  before(async () => {
    await create('busy');
    await runSql(
      service.database,
      `insert into events (bucket, workspace_id, environment, target_type, target_id, event_id, position, type,
         occurred_at, actor, version, changes)
       with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${EVENTS})
       select bucket, workspace_id, environment, 'user_group', provided_id, 'past-' || n, 10 + n, 'user_group.updated',
         created_at, '{}', n, '{"properties":{"plan":{"from":"plan ' || n || '","to":"a plan of more than eighty characters, as long as those of most customers are"}}}'
       from numbers, user_groups where provided_id = 'busy'`,
    );
    await runSql(service.database, `update user_groups set version = ${EVENTS} where provided_id = 'busy'`);
    if (kind.name !== 'SQLite') await runSql(service.database, 'analyze');
  });

  const create = (id: string) => service.get({ user_group_id: id, name: 'Busy' });

  /** Repeats the call as clients do; returns the number of attempts. */
  async function remove(id: string): Promise<number> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const start = performance.now();
      const { status, headers, text } = await service.call('DELETE', `/v1/user-groups/${id}`);
      const tookMs = performance.now() - start;
      assert.ok(tookMs < MAX_RESPONSE_MS, `took ${Math.round(tookMs)} ms`);
      if (status === 204) return attempt;
      assert.equal(status, 503, text);
      await sleep(Number(headers['retry-after']) * 1_000);
    }
    throw new Error(`not deleted in ${MAX_ATTEMPTS} attempts`);
  }

  it('is deleted with the values of all its events', async (test) => {
    const start = performance.now();
    const attempts = await remove('busy');
    test.diagnostic(`${attempts} attempts in ${Math.round(performance.now() - start)} ms`);
    const [row] = await runSql(
      service.database,
      "select count(*) as events, count(changes) as kept from events where target_id = 'busy'",
    );
    assert.deepEqual(
      { events: Number(row!.events), kept: Number(row!.kept) },
      { events: EVENTS + 2, kept: 0 },
    );
  });

  it(`is deleted after ${RENAMES} renames`, async (test) => {
    const ids = ['often', 'often-2'];
    await create('often');
    const buckets = ids.map((id) => computeBucket(1, 'Customer', id));
    const rows = Array.from({ length: RENAMES }, (_, index) => {
      const [from, to] = index % 2 === 0 ? [0, 1] : [1, 0];
      const row = (at: number, direction: string, other: number) =>
        `(${buckets[at]}, 1, 'Customer', '${ids[at]}', ${index + 1}, 'e', '${direction}', '${ids[other]}', 1)`;
      return `${row(from, 'to', to)}, ${row(to, 'from', from)}`;
    });
    await runSql(
      service.database,
      `insert into user_group_renames (bucket, workspace_id, environment, provided_id, position, event_id, direction,
         other_id, team_id) values ${rows.join(', ')}`,
    );
    const start = performance.now();
    const attempts = await remove('often');
    test.diagnostic(`${attempts} attempts in ${Math.round(performance.now() - start)} ms`);
  });

  it('is deleted at the first attempt if its id was used again, whatever happened before', async (test) => {
    await create('busy');
    const start = performance.now();
    assert.equal(await remove('busy'), 1);
    test.diagnostic(`${Math.round(performance.now() - start)} ms`);
  });
});
