// `event purge` deletes old events faster than the background task, while the service is running.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { type Exit, runHosted, ServedDatabase } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

const DAY_MS = 86_400_000;
const GROUPS = 210;

describeOnEachDatabase('event purge', (kind) => {
  const site = ServedDatabase.of(kind);
  const { folder } = site;
  before(async () => {
    for (let group = 0; group < GROUPS; group++)
      await site.call('PUT', `/v1/user-groups/g-${group}`, { name: 'G' });
  });

  function purge(...args: string[]): Promise<Exit> {
    return runHosted(folder, ['event', 'purge', ...args], site.onDatabase);
  }

  async function countEvents(): Promise<number> {
    return (await runSql(site.database, 'select event_id from events')).length;
  }

  /** Makes all events but the newest this old. */
  async function age(days: number): Promise<void> {
    const at = Date.now() - days * DAY_MS;
    await runSql(
      site.database,
      `update events set occurred_at = ${at} where position < (select max(position) from events)`,
    );
  }

  it('deletes nothing that the service keeps', async () => {
    await age(80);
    const events = await countEvents();
    const { code, stdout } = await purge('--json');
    assert.deepEqual([code, JSON.parse(stdout)], [0, { events: 0, deliveries: 0, usage: 0 }]);
    assert.equal(await countEvents(), events);
  });

  it('asks for confirmation before it deletes more, and changes nothing without a terminal', async () => {
    const events = await countEvents();
    const { code, stdout, stderr } = await purge('--older-than', '30d');
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /no terminal to ask for confirmation; add --yes/);
    assert.equal(await countEvents(), events);
  });

  it('deletes what is older than the given age while the service is running', async () => {
    const events = await countEvents();
    const { code, stdout } = await purge('--older-than', '30d', '--yes', '--json');
    assert.deepEqual([code, JSON.parse(stdout)], [0, { events: events - 1, deliveries: 0, usage: 0 }]);
    assert.equal(await countEvents(), 1);
    const response = await site.call('PUT', '/v1/user-groups/later', { name: 'L' });
    assert.equal(response.status, 201);
  });

  it('deletes what is older than the retention, without confirmation', async () => {
    await age(100);
    for (const days of [100, 80]) {
      const day = Math.floor(Date.now() / DAY_MS) - days;
      await runSql(
        site.database,
        `insert into usage_counts values (1, 1, 'Customer', 'g-1', ${day}, 'resolves', '', 1)`,
      );
    }
    const { code, stdout } = await purge();
    assert.deepEqual([code, stdout], [0, 'Deleted 1 event, 0 webhook deliveries and 1 count of usage.\n']);
  });

  it('refuses an invalid age', async () => {
    for (const text of ['', '0d', '30', 'x', '99y']) {
      const exit = await runHosted(folder, ['event', 'purge', '--older-than', text], site.onDatabase);
      const { code, stderr } = exit;
      assert.equal(code, 2, text);
      assert.match(stderr, /It must be a number and a unit/);
    }
  });
});
