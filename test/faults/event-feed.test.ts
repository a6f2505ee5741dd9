// The feed of events returns each event once and misses none, although transactions commit in a different
// order than they start, and the events of a group are in the order of its changes, although the clocks of
// processes differ.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { POSITIONS } from '../../src/store/postgres/event/record.ts';
import { type DatabaseKind, postgres, sqlite } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql, SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

/** Number of changes of one group by two processes. */
const CHANGES = 200;
const GROUPS = 8;
const SKEW_MS = 3_600_000;
const LIMIT_MS = 10_000;

interface Event {
  event_id: string;
  type: string;
  target: { id: string };
  version: number;
  changes: { properties?: { n?: { from?: number; to?: number } } } | null;
}

class Reader {
  readonly events: Event[] = [];
  #cursor: string | null = null;
  readonly #service: TestService;
  readonly #filter: string;

  constructor(service: TestService, filter = '') {
    this.#service = service;
    this.#filter = filter;
  }

  /** Reads until a page is empty. */
  async poll(limit = 100): Promise<void> {
    for (;;) {
      const cursor = this.#cursor === null ? '' : `&cursor=${this.#cursor}`;
      const { status, json, text } = await this.#service.call(
        'GET',
        `/v1/events?order=oldest&limit=${limit}${this.#filter}${cursor}`,
      );
      assert.equal(status, 200, text);
      this.#cursor = json.next_cursor;
      assert.equal(typeof this.#cursor, 'string');
      this.events.push(...json.events);
      if (json.events.length === 0) return;
    }
  }

  /** Polls until the last event is about the target: other tests have transactions on the same server. */
  async pollUntil(target: string): Promise<void> {
    const end = performance.now() + LIMIT_MS;
    do await this.poll();
    while (this.events.at(-1)?.target.id !== target && performance.now() < end);
    assert.equal(this.events.at(-1)?.target.id, target);
  }

  get ids(): string[] {
    return this.events.map(({ event_id }) => event_id);
  }
}

/** Asserts that each change starts where the previous one ended. */
function assertUnbroken(events: readonly Event[]): void {
  let [version, n]: [number, number | undefined] = [0, undefined];
  for (const event of events) {
    assert.equal(event.version, ++version);
    const change = event.changes?.properties?.n;
    assert.equal(change?.from, n);
    n = change?.to;
  }
}

for (const database of [sqlite, postgres])
  describe(`The feed of events (${database.name})`, () => feed(database));

function feed(database: DatabaseKind): void {
  const services = database === postgres ? TestService.pairOf(database) : [TestService.of(database)];
  before(() => {
    if (database === postgres) services[1]!.clockAheadMs = SKEW_MS;
  });
  const caller = (index: number) => services[index % services.length]!;

  it('has the concurrent changes of a group in their order, in the feed and in its history', async () => {
    const id = 'contended';
    await caller(0).get({ user_group_id: id, name: 'N', properties: { n: -1 } });
    let next = 0;
    const worker = async (index: number): Promise<void> => {
      while (next < CHANGES) {
        const n = next++;
        const { status, text } = await caller(index).put({ user_group_id: id, properties: { n } });
        assert.equal(status, 200, text);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, index) => worker(index)));
    // Transactions of other databases on the server hold back the feed.
    await caller(0).get({ user_group_id: 'after them', name: 'N' });
    const reader = new Reader(caller(0));
    await reader.poll();
    await reader.pollUntil('after them');
    const inFeed = reader.events.filter(({ target }) => target.id === id);
    assert.equal(inFeed.length, CHANGES + 1);
    assertUnbroken(inFeed);
    const history = await caller(0).call('GET', `/v1/user-groups/${id}/events?order=oldest&limit=1000`);
    assert.deepEqual(history.json.events, inFeed);
  });

  it('gives a polling reader every event once, under concurrent load', async () => {
    const reader = new Reader(caller(0));
    let isDone = false;
    const polling = (async () => {
      while (!isDone) await reader.poll(7);
      await reader.poll();
    })();
    const work = async (worker: number): Promise<void> => {
      for (let round = 0; round < 25; round++) {
        const id = `load-${(worker + round) % GROUPS}`;
        const service = caller(worker);
        await service.get({ user_group_id: id, name: 'N' });
        await service.put({ user_group_id: id, properties: { n: worker * 1_000 + round } });
        if (round % 5 === 0) await service.call('POST', `/v1/user-groups/${id}/rotate`, {});
        if (round % 7 === 0) await service.call('DELETE', `/v1/user-groups/${id}`);
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, worker) => work(worker)));
    await caller(0).get({ user_group_id: 'last', name: 'Last' });
    isDone = true;
    await polling;
    await reader.pollUntil('last');
    const stored = await runSql(
      caller(0).database,
      'select event_id from events order by position, event_id',
    );
    assert.equal(new Set(reader.ids).size, reader.ids.length);
    assert.deepEqual(
      reader.ids,
      stored.map(({ event_id }) => event_id),
    );
  });
}

describe('The feed of events on PostgreSQL', () => {
  const stack = suiteStack();
  let service: TestService;
  let client: SqlConnection;
  before(async () => {
    service = stack.use(await TestService.start(postgres));
    client = stack.use(await SqlConnection.open(service.database.url));
  });

  it('waits for a transaction that is held open, then returns its events before later ones', async () => {
    const reader = new Reader(service);
    await service.get({ user_group_id: 'before', name: 'Before' });
    await reader.pollUntil('before');
    const before = reader.events.length;
    await client.query('begin');
    await client.query(
      `insert into events (bucket, workspace_id, environment, target_type, target_id, event_id, position, type,
         occurred_at, actor, version)
       select bucket, workspace_id, environment, target_type, 'held', 'evt_held',
         ((select base from event_positions) + pg_current_xact_id()::text::bigint) * ${POSITIONS}, type, occurred_at,
         actor, 1
       from events limit 1`,
    );
    for (const id of ['later 1', 'later 2']) await service.get({ user_group_id: id, name: 'Later' });
    await reader.poll();
    assert.equal(reader.events.length, before);
    // The list of the newest events and the history of a group do not wait.
    const newest = await service.call('GET', '/v1/events');
    assert.equal(newest.json.events[0].target.id, 'later 2');
    await client.query('commit');
    await reader.pollUntil('later 2');
    const ids = reader.events.slice(before).map(({ target }) => target.id);
    assert.deepEqual(ids, ['held', 'later 1', 'later 2']);
  });

  it('does not wait for a transaction that is rolled back', async () => {
    const reader = new Reader(service);
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    await service.get({ user_group_id: 'rolled back', name: 'N' });
    await reader.poll();
    assert.ok(!reader.events.some(({ target }) => target.id === 'rolled back'));
    await client.query('rollback');
    await reader.pollUntil('rolled back');
  });

  it('has the changes of a group in order, even if the later change has the earlier transaction id', async () => {
    await service.get({ user_group_id: 'inverted', name: 'N', properties: { n: 0 } });
    // Starts a transaction with a lower id than that of the service, to change the group after the service
    // does.
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    await service.put({ user_group_id: 'inverted', properties: { n: 1 } });
    const { rows } = await client.query(
      `select max(position) as last, pg_current_xact_id()::text::bigint * ${POSITIONS} as own from events
       where target_id = 'inverted'`,
    );
    assert.ok(Number(rows[0].last) > Number(rows[0].own));
    const { INSERT } = await import('../../src/store/postgres/event/record.ts');
    const group = await client.query("select * from user_groups where provided_id = 'inverted'");
    const { bucket, workspace_id } = group.rows[0];
    const actor = '{"type":"command_line","id":null,"name":null,"via":"command_line"}';
    const change = '{"from":{"properties":{"n":1}},"to":{"properties":{"n":2}}}';
    const event = [
      bucket,
      workspace_id,
      'Customer',
      'user_group',
      'inverted',
      'evt_0',
      'user_group.updated',
      1,
      actor,
    ];
    await client.query(
      INSERT.sql,
      [...event, null, 3, change, 0].map((value) => [value]),
    );
    await client.query('commit');
    const reader = new Reader(service);
    await reader.pollUntil('inverted');
    assertUnbroken(
      reader.events
        .filter(({ target }) => target.id === 'inverted')
        .map((each, index) => ({
          ...each,
          changes: index === 0 ? { properties: { n: { to: 0 } } } : each.changes,
        })),
    );
  });

  it('has the creation of a group after its deletion, even if the creation has the earlier transaction id', async () => {
    const id = 'created again';
    await service.get({ user_group_id: id, name: 'N', properties: { n: 0 } });
    const { rows } = await client.query(
      'select bucket, token_digest, row_to_json(user_groups) as stored from user_groups where provided_id = $1',
      [id],
    );
    const { bucket, token_digest, stored } = rows[0];
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    await service.call('DELETE', `/v1/user-groups/${encodeURIComponent(id)}`);
    await client.query('insert into user_groups select * from json_populate_record(null::user_groups, $1)', [
      stored,
    ]);
    const { INSERT_FOR_TOKENS } = await import('../../src/store/postgres/event/record.ts');
    const actor = '{"type":"command_line","id":null,"name":null,"via":"command_line"}';
    await client.query(INSERT_FOR_TOKENS.sql, [
      [bucket],
      [token_digest],
      ['evt_0'],
      [actor],
      [null],
      [null],
      'user_group.created',
    ]);
    await client.query('commit');
    const history = await service.call(
      'GET',
      `/v1/user-groups/${encodeURIComponent(id)}/events?order=oldest`,
    );
    const events = history.json.events as Event[];
    assert.deepEqual(
      events.map(({ type }) => type),
      ['user_group.created', 'user_group.deleted', 'user_group.created'],
    );
    assert.deepEqual(events[2]!.changes, { name: { to: 'N' }, properties: { n: { to: 0 } } });
  });

  it('has an event without a change in the order of the changes of its target', async () => {
    const { token } = await service.apiToken({ permission: 'admin' });
    const path = '/v1/webhook-endpoints/tested';
    const put = (version: number) => {
      const body = { url: `https://203.0.114.1/${version}`, event_types: ['user_group.created'] };
      return service.call('PUT', path, body, { token });
    };
    assert.equal((await put(1)).status, 201);
    const reader = new Reader(service, '&target=webhook_endpoint:tested');
    // Delays the end of a transaction that already has its position.
    await client.query('begin');
    await client.query('lock table deliveries in share mode');
    const testing = service.call('POST', `${path}/test`, undefined, { token });
    const waiting = "select 1 from pg_locks where not granted and relation = 'deliveries'::regclass";
    await eventually('the delivery', async () => (await runSql(service.database, waiting)).length > 0);
    const changing = put(2);
    await Promise.race([changing, sleep(300)]);
    await reader.poll();
    await client.query('commit');
    assert.deepEqual([(await testing).status, (await changing).status], [202, 200]);
    await reader.poll();
    assert.deepEqual(
      reader.events.map(({ type }) => type.split('.')[1]),
      ['created', 'tested', 'updated'],
    );
  });

  it('keeps positions in order after a restore into another cluster, even if every event was deleted', async () => {
    const reader = new Reader(service);
    await reader.poll();
    // Simulates rows from a cluster with far higher transaction ids.
    const far = 2 ** 40;
    for (const deleted of [false, true]) {
      const raise = `update events set position = position + ${far * (deleted ? 2 : 1)}`;
      await runSql(service.database, raise);
      await runSql(service.database, "update event_positions set system_identifier = '1'");
      if (deleted) {
        const ahead = Number(
          (await runSql(service.database, 'select max(position) as last from events'))[0]!.last,
        );
        await runSql(service.database, `update event_positions set deleted_to = ${ahead}`);
        await runSql(service.database, 'delete from events');
      }
      const [{ last }] = (await runSql(
        service.database,
        'select greatest(max(position), (select deleted_to from event_positions)) as last from events',
      )) as [{ last: string }];
      await service.restart();
      await service.get({ user_group_id: `restored ${deleted}`, name: 'N' });
      const [row] = await runSql(
        service.database,
        "select max(position) as position from events where target_id like 'restored%'",
      );
      assert.ok(Number(row!.position) > Number(last));
      const after = new Reader(service);
      await after.pollUntil(`restored ${deleted}`);
    }
  });

  it('keeps positions in order after a restore into a physical copy of the cluster', async () => {
    await service.get({ user_group_id: 'copied', name: 'N' });
    // Simulates rows from the original, which has the same identifier and has run far more transactions since.
    await runSql(service.database, `update events set position = position + ${2 ** 40}`);
    await service.restart();
    await service.get({ user_group_id: 'after the copy', name: 'N' });
    assert.deepEqual(
      await runSql(service.database, 'select target_id from events order by position desc limit 1'),
      [{ target_id: 'after the copy' }],
    );
  });

  it('needs no privilege to read the identifier of the cluster', async () => {
    const other = await TestService.start(postgres);
    const { pathname } = new URL(other.database.url);
    const role = `limited_${pathname.slice(-8)}`;
    await runSql(other.database, `create role ${role} login password 'limited'`);
    await runSql(other.database, `grant all on all tables in schema public to ${role}`);
    await runSql(other.database, 'revoke execute on function pg_control_system() from public');
    await other.stop();
    const url = new URL(other.database.url);
    url.username = role;
    url.password = 'limited';
    const env = { ...other.database.env, DATABASE_URL: url.href };
    const limited = await TestService.start(postgres, {
      database: { ...other.database, url: url.href, env },
    });
    await limited.get({ user_group_id: 'a', name: 'A' });
    // Simulates a restore, after which positions would start again.
    await runSql(other.database, `update events set position = position + ${2 ** 40}`);
    await limited.restart();
    await limited.get({ user_group_id: 'b', name: 'B' });
    const newest = await limited.call('GET', '/v1/events');
    assert.equal(newest.json.events[0].target.id, 'b');
    const reader = new Reader(limited);
    await reader.pollUntil('b');
    await limited.stop();
    await runSql(other.database, `drop owned by ${role}`);
    await runSql(other.database, `drop role ${role}`);
    await other.database.drop();
  });
});
