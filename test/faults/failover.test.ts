// A standby takes over from the primary, and the address points to the new primary. Acknowledged changes are
// on both.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres, type TestDatabase } from '../support/database.ts';
import { Installation } from '../support/faults/installation.ts';
import { dataRow, parameterStatus } from '../support/faults/protocol.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { DedicatedServer } from '../support/faults/server.ts';
import { eventually, Folder, run, type Service, served } from '../support/process.ts';
import { SqlConnection } from '../support/sql.ts';

/** Returns the database of the primary, with all hosts in its URL. */
function databaseOn(
  { database }: DedicatedServer,
  hosts: readonly DedicatedServer[],
  parameters = '',
): TestDatabase {
  const url = database.url.replace(hostOf({ database }), hosts.map(hostOf).join(','));
  return { ...database, env: { ...database.env, DATABASE_URL: `${url}${parameters}` } };
}

function hostOf({ database }: Pick<DedicatedServer, 'database'>): string {
  return new URL(database.url).host;
}

describe('A failover without a proxy, to another host of DATABASE_URL', () => {
  for (const how of ['clean', 'crash'] as const) {
    it(`loses no acknowledged change, and needs no manual step after the promotion: ${how}`, async (test) => {
      const primary = await DedicatedServer.start();
      const standby = await primary.startStandby();
      try {
        // Lists the standby first: a process must find the primary at its start too.
        const database = databaseOn(primary, [standby, primary], '?target_session_attrs=read-write');
        await using site = await Installation.start({ processes: 2, database, proxied: false });
        {
          using callers = site.callers();
          await sleep(500);
          await primary.stop(how);
          await sleep(500);
          await standby.promote();
          await site.waitForRecovery(test);
          await sleep(300);
          await callers.stopAndCheck();
          test.diagnostic(callers.summary);
        }
        // A process that starts later finds the new primary, whichever host comes first.
        await site.serve();
        await site.waitForRecovery();
      } finally {
        await standby.drop();
      }
    });
  }
});

describe('Hosts of DATABASE_URL that accept connections and never answer', () => {
  it('delay the start of a process once each, but none of its requests', async () => {
    const database = await postgres.create();
    await using unresponsive = await FaultProxy.start(database.url);
    unresponsive.silence('all');
    const { host } = new URL(database.url);
    const { host: other } = new URL(unresponsive.url);
    const DATABASE_URL = database.url.replace(host, `${other},${other},${host}`);
    using folder = new Folder();
    // Long enough to connect to the third host on a busy machine.
    const env = { DATABASE_URL, UGS_POSTGRES_CONNECT_TIMEOUT_MS: '4000' };
    const migrated = await run(folder, ['migrate'], { env });
    assert.equal(migrated.code, 0, migrated.stderr);
    // One for each time that the host is listed.
    assert.equal(unresponsive.open, 2);
    await using site = await Installation.start({
      database,
      env: { ...env, UGS_THREADS: '2' },
      proxied: false,
    });
    const { opened } = unresponsive;
    // Each on a connection of its own, so that both threads get some.
    const calls = Array.from({ length: 16 }, (_, index) => served(() => site.get(`group-${index}`, 'Group')));
    for (const { status, text } of await Promise.all(calls)) assert.equal(status, 200, text);
    assert.equal(unresponsive.opened, opened, 'no request has waited for them');
  });
});

describe('A former primary that starts again beside its successor', () => {
  it('is used by no process, even while the successor restarts', async (test) => {
    const primary = await DedicatedServer.start();
    const standby = await primary.startStandby();
    try {
      const database = databaseOn(primary, [primary, standby]);
      await using site = await Installation.start({ processes: 2, database, proxied: false });
      using callers = site.callers();
      await primary.stop('crash');
      await standby.promote();
      await site.waitForRecovery();
      await primary.start();
      // Without a synchronous standby, it would acknowledge changes.
      await primary.run("alter system set synchronous_standby_names = ''");
      await primary.run('select pg_reload_conf()');
      const accepts = new RegExp(`^failed +server +${hostOf(primary)} accepts changes too`, 'm');
      const { code, stdout } = await run(site.folder, ['doctor'], { env: site.env });
      assert.equal(code, 65);
      assert.match(stdout, accepts);
      await primary.setReadOnly('on');
      assert.doesNotMatch((await run(site.folder, ['doctor'], { env: site.env })).stdout, accepts);
      await primary.setReadOnly('off');
      // A process that starts now refuses it too, although the URL names it first.
      const later = await site.serve();
      const { json } = await site.callTo(later, { body: { user_group_id: 'later', name: 'Later' } });
      assert.equal((await site.get('later')).json.user_group.token, json.user_group.token);
      await standby.stop('clean');
      await site.waitUntilNotReady();
      await sleep(500);
      await standby.start();
      await site.waitForRecovery(test);
      await callers.stopAndCheck();
      test.diagnostic(callers.summary);
    } finally {
      await standby.drop();
    }
  });
});

describe('A former primary that starts again while no request arrives', () => {
  it('is used by no thread of a process of which one has seen the successor', async () => {
    const primary = await DedicatedServer.start();
    const standby = await primary.startStandby();
    try {
      const database = databaseOn(primary, [primary, standby]);
      await using site = await Installation.start({ database, env: { UGS_THREADS: '4' }, proxied: false });
      // Each on a connection of its own, so that all threads get some.
      const createAll = (name: string) =>
        Promise.all(Array.from({ length: 24 }, (_, index) => site.get(`${name}-${index}`, name)));
      for (const { status, text } of await createAll('before')) assert.equal(status, 200, text);
      await primary.stop('crash');
      await standby.promote();
      // Only the main thread connects, to look for webhooks.
      await using successor = await SqlConnection.open(standby.database.url);
      const sessions = `select 1 from pg_stat_activity where application_name = 'user-group-service'`;
      await eventually('a connection', async () => (await successor.query(sessions)).rows.length > 0);
      await primary.start();
      await primary.run("alter system set synchronous_standby_names = ''");
      await primary.run('select pg_reload_conf()');
      for (const { status, text } of await createAll('after')) assert.equal(status, 200, text);
      await using former = await SqlConnection.open(primary.database.url);
      const { rows } = await former.query("select provided_id from user_groups where name = 'after'");
      assert.deepEqual(rows, []);
    } finally {
      await standby.drop();
    }
  });
});

describe('A former primary that keeps its connections after the address was moved', () => {
  const pair = startPair({ env: { UGS_THREADS: '4' } });

  it('is used by no thread of a process of which one has been connected to the successor', async () => {
    const { site, primary, standby } = pair;
    // Each on a connection of its own, so that all threads get some.
    const createAll = (name: string) =>
      Promise.all(Array.from({ length: 24 }, (_, index) => site.get(`${name}-${index}`, name)));
    for (const { status, text } of await createAll('before')) assert.equal(status, 200, text);
    await primary.run("alter system set synchronous_standby_names = ''");
    await primary.run('select pg_reload_conf()');
    await standby.promote();
    site.proxy.target = new URL(standby.database.url);
    const sessions = `from pg_stat_activity where application_name = 'user-group-service'`;
    await primary.run(`select pg_terminate_backend(pid) ${sessions} order by backend_start limit 4`);
    await using successor = await SqlConnection.open(standby.database.url);
    await eventually('a connection', async () => {
      await createAll('between');
      return (await successor.query(`select 1 ${sessions}`)).rows.length > 0;
    });
    for (const { status, text } of await createAll('after')) assert.equal(status, 200, text);
    await using former = await SqlConnection.open(primary.database.url);
    const { rows } = await former.query("select provided_id from user_groups where name = 'after'");
    assert.deepEqual(rows, []);
  });
});

// The tests share one installation: a failover makes the standby the primary of the next test, with a new standby.
describe('A synchronous standby', () => {
  const pair = startPair({ processes: 2 });

  it('that stays down keeps few sessions of the service, so that connections are left for reads', async () => {
    const { site, primary, standby } = pair;
    // Each thread has sessions of its own.
    const service = await site.serve({ UGS_THREADS: '1' });
    const call = (method: string, id: string, name?: string) =>
      site.callTo(service, { method, body: { user_group_id: id, ...(name !== undefined && { name }) } });
    const { json } = await call('GET', 'kept', 'Kept');
    await standby.stop('clean');
    await using operator = await SqlConnection.open(primary.database.url);
    const waiting = async () =>
      (await operator.query(`select 1 from pg_stat_activity where wait_event = 'SyncRep'`)).rows.length;
    assert.equal((await call('PUT', 'kept', 'Other')).status, 503);
    const first = await waiting();
    assert.ok(first > 0);
    for (let index = 0; index < 5; index++)
      assert.equal((await call('GET', `waiting-${index}`, 'New')).json.code, 'database_unavailable');
    assert.equal(await waiting(), first);
    assert.deepEqual((await call('GET', 'kept')).json.user_group, json.user_group);
    await standby.start();
    await site.waitForRecovery();
    await site.stopLast();
  });

  it('that is down causes a 503 for writes, while reads are served', async (test) => {
    const { site, standby } = pair;
    const { json } = await site.get('there', 'There');
    using callers = site.callers();
    await sleep(300);
    await standby.stop('clean');
    await site.waitUntilNotReady();
    assert.equal((await site.get('new', 'New')).status, 503);
    assert.equal((await site.put('there', 'Other')).status, 503);
    assert.deepEqual((await site.get('there')).json.user_group, json.user_group);
    await assertDiagnosed();
    await standby.start();
    await site.waitForRecovery(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
  });

  it('at the address of the primary is not used, although it is readable, and gets few connection attempts', async () => {
    const { site, primary, standby } = pair;
    const { json } = await site.get('there', 'There');
    await standby.pauseReplay();
    const rotated = await site.rotate(json.user_group.token);
    pointTo(standby);
    await site.waitUntilNotReady();
    const { opened } = site.proxy;
    const startedAt = performance.now();
    while (performance.now() - startedAt < 1_000) {
      const stale = { method: 'POST', path: '/v1/resolve', body: { token: json.user_group.token } };
      const responses = await Promise.all([site.get('there'), site.call(stale)]);
      for (const { status } of responses) assert.equal(status, 503);
      await sleep(10);
    }
    await standby.run('select pg_wal_replay_resume()');
    // One connection every tenth of a second from each process.
    assert.ok(site.proxy.opened - opened <= 2 * 11, `${site.proxy.opened - opened} connections in a second`);
    pointTo(primary);
    await site.waitForRecovery();
    assert.equal((await site.get('there')).json.user_group.token, rotated.json.user_group.token);
  });

  it('at the address of the primary prevents a process from starting', async () => {
    const { site, primary, standby } = pair;
    pointTo(standby);
    const waiting = site.serve({ UGS_DATABASE_WAIT_MS: '0' });
    await assert.rejects(waiting, /the server is a standby/);
    pointTo(primary);
    await site.waitForRecovery();
  });

  for (const [title, stopPrimary] of [
    ['shuts down cleanly', () => pair.primary.stop('clean')],
    ['crashes', () => pair.primary.stop('crash')],
    ['becomes unresponsive', async () => pair.site.proxy.silence('open')],
  ] as const) {
    it(`replaces a primary that ${title}: no acknowledged change is lost, no stale data returned, and the service recovers soon after`, async (test) => {
      const { site, primary, standby } = pair;
      using callers = site.callers();
      await sleep(500);
      await stopPrimary();
      // The address is often changed before the standby is promoted.
      site.proxy.target = new URL(standby.database.url);
      await sleep(1_000);
      await standby.promote();
      await site.waitForRecovery(test);
      await sleep(300);
      await callers.stopAndCheck();
      test.diagnostic(callers.summary);
      await primary.drop();
      pair.primary = standby;
      pair.standby = await standby.startStandby();
    });
  }

  it('that has lost acknowledged changes assigns no team_id twice, in old and new processes', async () => {
    const { site, primary, standby } = pair;
    // Has no ids yet, and so takes some that the standby does not know.
    await site.serve();
    await standby.stop('clean');
    await primary.run("alter system set synchronous_standby_names = ''");
    await primary.run('select pg_reload_conf()');
    for (const service of site.services) await create(service, 'lost');
    await primary.stop('crash');
    await standby.start();
    await standby.promote();
    site.proxy.target = new URL(standby.database.url);
    await site.waitForRecovery();
    await site.serve();
    const teamIds: number[] = [];
    for (let round = 0; round < 3; round++) {
      for (const service of site.services) teamIds.push(await create(service, `kept-${teamIds.length}`));
    }
    assert.equal(new Set(teamIds).size, teamIds.length, teamIds.join());
  });

  async function create(service: Service, id: string): Promise<number> {
    const body = { user_group_id: id, name: id };
    const { status, json } = await pair.site.callTo(service, { body });
    assert.equal(status, 200);
    return json.user_group.team_id;
  }

  function pointTo(server: DedicatedServer): void {
    pair.site.proxy.target = new URL(server.database.url);
    pair.site.proxy.cut();
  }

  /** Checks that `doctor` names the cause, and does not advise to end the sessions that wait. */
  async function assertDiagnosed(): Promise<void> {
    const { site, primary } = pair;
    await using operator = await SqlConnection.open(primary.database.url);
    // A function of this name on the search path stands in for the time an hour later.
    await operator.query(`set synchronous_commit = local; create schema later;
      create function later.now() returns timestamptz language sql as $$ select pg_catalog.now() + interval '1 hour' $$`);
    const url = new URL(primary.database.url);
    url.searchParams.set('options', '-c search_path=public,later,pg_catalog');
    const env = { ...site.env, DATABASE_URL: url.href };
    const { rows } = await operator.query(`select pid from pg_stat_activity where wait_event = 'SyncRep'`);
    const { code, stdout } = await run(site.folder, ['doctor'], { env });
    assert.equal(code, 65);
    assert.match(
      stdout,
      /^failed +server +commits have been waiting for a synchronous standby for 36\d\d s/m,
    );
    assert.ok(rows.length > 0);
    for (const { pid } of rows) assert.doesNotMatch(stdout, new RegExp(`pg_terminate_backend\\(${pid}\\)`));
  }
});

describe('A pooler', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start();
  });
  after(() => site[Symbol.asyncDispose]());

  it('that still reports the primary as a standby makes the service query its state, and use it', async () => {
    const off = parameterStatus('in_hot_standby', 'off');
    let reports = 0;
    site.proxy.rewrite = (message) => {
      if (!message.equals(off)) return message;
      reports++;
      return parameterStatus('in_hot_standby', 'on');
    };
    site.proxy.cut();
    await site.waitForRecovery();
    assert.ok(reports > 0);
  });

  it('that sends reads to a standby is not used', async () => {
    const fromPrimary = dataRow('t', 'off');
    site.proxy.rewrite = (message) => (message.equals(fromPrimary) ? dataRow('t', 'on') : message);
    site.proxy.cut();
    await site.waitUntilNotReady();
    const waiting = site.serve({ UGS_DATABASE_WAIT_MS: '0' });
    await assert.rejects(waiting, /a pooler sends reads to a standby/);
    site.proxy.rewrite = (message) => message;
    await site.waitForRecovery();
  });
});

/** Starts a primary, its synchronous standby, and processes that use the primary, before the tests of a suite. */
function startPair(options: { processes?: number; env?: Record<string, string> }): {
  primary: DedicatedServer;
  standby: DedicatedServer;
  site: Installation;
} {
  const pair = {} as ReturnType<typeof startPair>;
  before(async () => {
    pair.primary = await DedicatedServer.start();
    pair.site = await Installation.start({ ...options, database: pair.primary.database });
    pair.standby = await pair.primary.startStandby();
  });
  after(async () => {
    await pair.site[Symbol.asyncDispose]();
    await pair.primary.drop();
    // The standby may have failed to start.
    await pair.standby?.drop();
  });
  return pair;
}
