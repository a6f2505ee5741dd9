// Old events are deleted in the background, in small batches. No value of a deleted user group remains in the
// database, or in the files of SQLite.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { purgeEvents } from '../../src/operations/event/purge.ts';
import { EventRetention } from '../../src/operations/event/retention.ts';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import { Scrape } from '../support/metrics.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAY_SECONDS = 86_400;
const OLD_EVENTS = 450;
const READER_MS = 1_000;
/** Workspace without events. */
const WITHOUT_EVENTS = 99;

describeOnEachDatabase('The retention of events', (database) => {
  const service = TestService.of(database, { env: { UGS_EVENT_RETENTION_DAYS: '30' } });

  const events = async (): Promise<string[]> => {
    const rows = await runSql(service.database, 'select target_id from events order by position');
    return rows.map(({ target_id }) => String(target_id));
  };

  /** Returns a page with events; other transactions on the server delay the feed. */
  const feed = (query: string) =>
    eventually('an event in the feed', async () => {
      const { json } = await service.call('GET', `/v1/events${query}`);
      return json.events.length > 0 && json;
    });

  /** Records as many events as `OLD_EVENTS`: creations, which form batches. */
  const recordMany = async (prefix: string): Promise<void> => {
    const ids = Array.from({ length: OLD_EVENTS }, (_, index) => `${prefix}-${index}`);
    while (ids.length > 0)
      await Promise.all(
        ids.splice(0, 50).map((id) => service.call('PUT', `/v1/user-groups/${id}`, { name: 'N' })),
      );
  };

  it('deletes what is older, of every environment, and nothing else', async () => {
    const { token: testing } = await service.apiToken({ environment: 'Testing' });
    await recordMany('old');
    await service.get({ user_group_id: 'old too', name: 'N' }, { token: testing });
    service.clockAheadMs = 29 * DAY_MS;
    await service.app.eventRetention.run();
    assert.equal((await events()).length, OLD_EVENTS + 3);
    await service.get({ user_group_id: 'new', name: 'N' });
    service.clockAheadMs = 31 * DAY_MS;
    const [first, second] = [service.app.eventRetention.run(), service.app.eventRetention.run()];
    await Promise.all([first, second]);
    assert.deepEqual(await events(), ['new']);
  });

  it('does not pause for environments without old events', { timeout: 30_000 }, async () => {
    await service.apiToken({ environment: 'Testing' });
    const { store, clock } = service.app.context;
    const purged = await purgeEvents({ store, now: clock(), before: 0, pauseMs: 60_000 });
    assert.deepEqual(purged, { events: 0, deliveries: 0, usage: 0 });
  });

  it('deletes old deliveries, pending or not and with or without events, and all of deleted endpoints', async () => {
    const columns =
      'bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type, target_id, position, state, attempts, next_attempt_at, created_at';
    const delivery = (workspaceId: number, endpoint: string, days: number, next: string) => {
      const time = (Date.now() + service.clockAheadMs - days * DAY_MS).toString(16).padStart(12, '0');
      return `(1, ${workspaceId}, 'Customer', '${endpoint}', 'evt_${time}${days}', 'user_group.created', 'user_group', 'g', 1, 'x', 1, ${next}, 1)`;
    };
    const later = String(Date.now() + service.clockAheadMs + HOUR_MS);
    const rows = [
      delivery(1, 'a', 31, 'null'),
      delivery(1, 'a', 29, 'null'),
      delivery(1, 'a', 32, later),
      delivery(1, 'b', 40, 'null'),
      delivery(1, 'c', 29, 'null'),
      delivery(1, 'deleted', 29, 'null'),
      delivery(WITHOUT_EVENTS, 'a', 32, later),
      delivery(WITHOUT_EVENTS, 'a', 28, later),
    ];
    const endpoint = (workspaceId: number, id: string) =>
      `(${workspaceId}, 'Customer', 'webhook_endpoint', '${id}', 1, '{"url":"","event_types":[],"enabled":true}', 1, 1)`;
    const endpoints = [...['a', 'b', 'c'].map((id) => endpoint(1, id)), endpoint(WITHOUT_EVENTS, 'a')];
    await runSql(
      service.database,
      `insert into documents (workspace_id, environment, kind, document_id, version, body, created_at, updated_at)
       values ${endpoints.join(', ')}`,
    );
    await runSql(service.database, `insert into deliveries (${columns}) values ${rows.join(', ')}`);
    assert.equal((await service.app.eventRetention.run()).deliveries, 5);
    const left = await runSql(
      service.database,
      'select workspace_id, endpoint_id, event_id from deliveries order by workspace_id, endpoint_id, event_id',
    );
    assert.deepEqual(
      left.map(
        ({ workspace_id, endpoint_id, event_id }) =>
          `${workspace_id} ${endpoint_id} ${String(event_id).slice(16)}`,
      ),
      ['1 a 29', '1 c 29', `${WITHOUT_EVENTS} a 28`],
    );
  });

  it('continues the feed of a reader whose events were deleted', async () => {
    await service.get({ user_group_id: 'next', name: 'N' });
    service.clockAheadMs += 60 * DAY_MS;
    const json = await feed('?order=oldest&limit=1');
    const [position] = await runSql(service.database, 'select max(position) as last from events');
    await service.app.eventRetention.run();
    assert.deepEqual(await events(), []);
    // Positions continue from here if the database is restored into another cluster.
    if (database.name !== 'SQLite')
      assert.deepEqual(await runSql(service.database, 'select deleted_to as last from event_positions'), [
        position,
      ]);
    await service.get({ user_group_id: 'after', name: 'N' });
    const page = await feed(`?order=oldest&cursor=${json.next_cursor}`);
    assert.deepEqual(
      page.events.map(({ target }: { target: { id: string } }) => target.id),
      ['after'],
    );
  });

  it('keeps the history of a renamed group whose events another clock has recorded', async () => {
    await service.get({ user_group_id: 'first', name: 'F' });
    service.clockAheadMs += DAY_MS;
    await service.get({ user_group_id: 'earlier id', name: 'marker of the history' });
    await service.call('POST', '/v1/user-groups/earlier%20id/rename', { user_group_id: 'later id' });
    service.clockAheadMs -= DAY_MS;
    await service.get({ user_group_id: 'last', name: 'L' });
    service.clockAheadMs += 30.5 * DAY_MS;
    await service.app.eventRetention.run();
    assert.deepEqual(await events(), ['earlier id', 'later id']);
    await service.call('DELETE', '/v1/user-groups/later%20id');
    const rows = await runSql(service.database, 'select changes from events');
    assert.doesNotMatch(JSON.stringify(rows), /marker of the history/);
    const renames = () => runSql(service.database, 'select * from user_group_renames');
    assert.equal((await renames()).length, 2);
    service.clockAheadMs += 32 * DAY_MS;
    await service.app.eventRetention.run();
    assert.deepEqual(await renames(), []);
  });

  it('deletes old events and those that a fast clock recorded before them, and keeps later ones', async () => {
    await runSql(service.database, 'delete from events');
    service.clockAheadMs += 3_650 * DAY_MS;
    await recordMany('ahead');
    service.clockAheadMs -= 3_650 * DAY_MS;
    await service.app.eventRetention.run();
    assert.equal((await events()).length, OLD_EVENTS);
    await service.get({ user_group_id: 'recorded when it was right', name: 'N' });
    service.clockAheadMs += 3_650 * DAY_MS;
    await service.get({ user_group_id: 'ahead, after what is old', name: 'N' });
    service.clockAheadMs -= 3_619 * DAY_MS;
    await service.get({ user_group_id: 'recent', name: 'N' });
    assert.equal((await service.app.eventRetention.run()).events, OLD_EVENTS + 1);
    assert.deepEqual(await events(), ['ahead, after what is old', 'recent']);
    assert.equal((await service.app.eventRetention.run()).events, 0);
    service.clockAheadMs += 31 * DAY_MS;
    assert.equal((await service.app.eventRetention.run()).events, 2);
  });

  it('removes the values of a deleted group with many events, in several transactions', async () => {
    for (let index = 0; index < 230; index++)
      await service.call('PUT', '/v1/user-groups/many', { name: `marker ${index}` });
    await service.call('DELETE', '/v1/user-groups/many');
    const rows = await runSql(service.database, "select changes from events where target_id = 'many'");
    assert.equal(rows.length, 231);
    assert.ok(rows.every(({ changes }) => changes === null));
  });

  it('leaves no value of a deleted group in the database, even after another program has kept a snapshot', async () => {
    const marker = (index: number) => `marker-${index}-of-the-deleted-group`;
    const properties = (index: number) => ({ short: marker(index), long: marker(index).repeat(1_000) });
    await service.get({ user_group_id: 'marked', name: marker(0), properties: properties(1) });
    for (let index = 2; index < 12; index++)
      await service.put({ user_group_id: 'marked', name: marker(index), properties: properties(index) });
    const file = service.database.url.slice('sqlite:'.length);
    const reader = database.name === 'SQLite' ? new DatabaseSync(file) : null;
    reader?.exec('begin; select count(*) from events');
    await service.call('DELETE', '/v1/user-groups/marked');
    const rows = await runSql(service.database, 'select changes from events');
    assert.doesNotMatch(JSON.stringify(rows), /of-the-deleted-group/);
    if (database.name !== 'SQLite') return;
    const running = service.app.eventRetention.run();
    await sleep(READER_MS);
    reader?.close();
    await running;
    for (const path of [file, `${file}-wal`])
      assert.ok(!readFileSync(path).includes('of-the-deleted-group'), path);
  });
});

describeOnEachDatabase('The retention of events by a clock that is ahead', (database) => {
  const service = TestService.of(database, { env: { UGS_EVENT_RETENTION_DAYS: '30' } });
  let doubts = 0;
  let uptimeMs = 0;

  /** Returns the retention of a process that starts now. */
  const newRetention = (retentionDays = 30) => {
    const { store, clock } = service.app.context;
    const onDoubtfulClock = () => doubts++;
    const onFailure = assert.ifError;
    const monotonicMs = () => uptimeMs;
    return new EventRetention({ store, clock, retentionDays, onFailure, onDoubtfulClock, monotonicMs });
  };

  const pass = (ms: number): void => {
    uptimeMs += ms;
    service.clockAheadMs += ms;
  };

  const countEvents = async (): Promise<number> => {
    const [row] = await runSql(service.database, 'select count(*) as events from events');
    return Number(row!.events);
  };

  it('deletes nothing until the process has run for a day', async () => {
    await service.get({ user_group_id: 'recent', name: 'N' });
    const retention = newRetention();
    assert.deepEqual(await retention.runIfClockIsConfirmed(), { events: 0, deliveries: 0, usage: 0 });
    service.clockAheadMs = 3_650 * DAY_MS;
    await service.get({ user_group_id: 'recorded by the wrong clock', name: 'N' });
    const before = await countEvents();
    assert.equal(await retention.runIfClockIsConfirmed(), null);
    assert.equal(await newRetention().runIfClockIsConfirmed(), null);
    pass(DAY_MS - 1);
    assert.equal(await retention.runIfClockIsConfirmed(), null);
    assert.equal(doubts, 3);
    assert.equal(await countEvents(), before);
    assert.equal(retention.lagMs > 3_600 * DAY_MS, true);
    pass(1);
    assert.notEqual((await retention.runIfClockIsConfirmed())!.events, 0);
    assert.equal(await countEvents(), 1);
  });

  it('deletes nothing if the clock of a process that has run for a day is set ahead', async () => {
    const retention = newRetention();
    await retention.runIfClockIsConfirmed();
    pass(2 * DAY_MS);
    service.clockAheadMs += 60 * DAY_MS;
    assert.equal(await retention.runIfClockIsConfirmed(), null);
    service.clockAheadMs -= 60 * DAY_MS;
    assert.deepEqual(await retention.runIfClockIsConfirmed(), { events: 0, deliveries: 0, usage: 0 });
  });

  it('deletes immediately if tokens were used two days ago, or if no events are kept', async () => {
    const { user_group } = (await service.get({ user_group_id: 'used', name: 'N' })).json;
    service.clockAheadMs += 40 * DAY_MS;
    assert.equal(await newRetention().runIfClockIsConfirmed(), null);
    await service.call('POST', '/v1/resolve', { token: user_group.token });
    await service.app.context.usage.write();
    service.clockAheadMs += DAY_MS;
    assert.equal(await newRetention().runIfClockIsConfirmed(), null);
    service.clockAheadMs += DAY_MS;
    assert.notEqual((await newRetention().runIfClockIsConfirmed())!.events, 0);
    await service.get({ user_group_id: 'any', name: 'N' });
    service.clockAheadMs += 40 * DAY_MS;
    assert.equal((await newRetention(0).runIfClockIsConfirmed())!.events, 1);
  });

  it('removes the values of a deleted group from the log of SQLite although it deletes nothing', async () => {
    await service.get({ user_group_id: 'marked', name: 'marker-of-the-deleted-group' });
    await service.call('DELETE', '/v1/user-groups/marked');
    service.clockAheadMs += 40 * DAY_MS;
    assert.equal(await newRetention().runIfClockIsConfirmed(), null);
    if (database.name !== 'SQLite') return;
    const file = service.database.url.slice('sqlite:'.length);
    for (const path of [file, `${file}-wal`])
      assert.ok(!readFileSync(path).includes('marker-of-the-deleted-group'), path);
  });
});

describeOnEachDatabase('The retention of events that fails', (database) => {
  const FAILURES = 'user_group_service_event_retention_failures_total';
  const FAILING = 'user_group_service_event_retention_failing';
  const LAG = 'user_group_service_event_retention_lag_seconds';

  it('is logged and counted, and its lag grows until it works', async () => {
    const env = { UGS_EVENT_RETENTION_DAYS: '30', UGS_METRICS_ADDRESS: '127.0.0.1:0' };
    await using service = await TestService.start(database, { env });
    const metrics = async () => {
      const scrape = await Scrape.of(service.app.metricsUrl!);
      return [FAILURES, FAILING, LAG].map(
        (name) => Math.round(scrape.sum(name) / 10) * 10 || scrape.sum(name),
      );
    };
    assert.deepEqual(await metrics(), [0, 0, Number.NaN]);
    await service.get({ user_group_id: 'old', name: 'N' });
    service.clockAheadMs = DAY_MS;
    await service.apiToken({ environment: 'Testing' });
    service.clockAheadMs = 32 * DAY_MS;
    await runSql(service.database, 'alter table deliveries rename to moved_deliveries');
    await assert.rejects(service.app.eventRetention.run());
    assert.deepEqual(await metrics(), [1, 1, 2 * DAY_SECONDS]);
    service.clockAheadMs = 33 * DAY_MS;
    assert.deepEqual(await metrics(), [1, 1, 3 * DAY_SECONDS]);
    const line = service.logLines
      .map((each) => JSON.parse(each))
      .find(({ msg }) => msg.startsWith('events: old'));
    assert.equal(line.level, 50);
    assert.match(line.reason ?? line.err.message, /deliveries/);
    await runSql(service.database, 'alter table moved_deliveries rename to deliveries');
    assert.deepEqual(await service.app.eventRetention.run(), { events: 3, deliveries: 0, usage: 0 });
    assert.deepEqual(await metrics(), [1, 0, 0]);
    await service.get({ user_group_id: 'new', name: 'N' });
    await service.app.eventRetention.run();
    assert.deepEqual(await metrics(), [1, 0, 0]);
  });
});

describe('The retention of events in the background', () => {
  it('runs a minute after the start, five minutes after a failure, and otherwise every hour', async ({
    mock,
  }) => {
    await using service = await TestService.start(sqlite);
    const { store } = service.app.context;
    await runSql(service.database, 'delete from events');
    const runs: number[] = [];
    let minutes = 0;
    const clock = () => {
      runs.push(minutes);
      if (runs.length === 1) throw new Error('the first run fails');
      return 0;
    };
    mock.timers.enable({ apis: ['setTimeout'] });
    const ignore = () => {};
    const retention = new EventRetention({
      store,
      clock,
      retentionDays: 30,
      onFailure: ignore,
      onDoubtfulClock: ignore,
    });
    retention.start();
    while (minutes < 130) {
      minutes++;
      mock.timers.tick(60_000);
      // Waits for more commands than a run has, so that a run in progress ends.
      for (let commands = 0; commands < 8; commands++) await store.write({ kind: 'scrub' });
    }
    await retention.stop();
    mock.timers.reset();
    assert.deepEqual(runs, [1, 6, 66, 126]);
  });

  describeOnEachDatabase('', (database) => {
    it('stops immediately when the service stops', async () => {
      const service = await TestService.start(database);
      const running = service.app.eventRetention.run();
      const start = performance.now();
      await service.stop();
      await running;
      assert.ok(performance.now() - start < 2_000);
      await service.database.drop();
    });
  });
});
