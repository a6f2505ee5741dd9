// Statements that the database undoes for the sake of others, and asks to be repeated.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FAULT_MS, Installation, within } from './installation.ts';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
/** PostgreSQL looks for a deadlock after a second. */
const DEADLOCK_FOUND_MS = 800;
/** More often than any statement is tried. */
const OFTEN = 20;
/** In most of them the updates come together. */
const MOST_ROUNDS = 50;
const MOST_LOADS = 5;

describe('A conflict in the database', () => {
  let site: Installation;
  let operator: pg.Client;
  before(async () => {
    site = await Installation.start({ processes: 2 });
    operator = await site.operator();
  });
  afterEach(() => {
    site.proxy.decide = () => 'pass';
  });
  after(() => site[Symbol.asyncDispose]());

  for (const severity of ['ERROR', 'FEHLER']) {
    for (const code of [SERIALIZATION_FAILURE, DEADLOCK]) {
      it(`that is reported as ${severity} ${code} some times is not noticed by anybody`, async () => {
        const id = `${severity} ${code}`;
        for (const [subject, call] of [
          ['find_api_tokens', () => site.get(id, 'First')],
          ['create_user_groups', () => site.get(id, 'First')],
          ['find_user_groups', () => site.get(id)],
          ['update_user_groups', () => site.put(id, 'Second')],
        ] as const) {
          refuse(subject, { code, severity }, 3);
          assert.equal((await call()).status, 200, subject);
        }
        assert.match((await site.get(id)).headers.etag!, /-2"$/);
      });
    }
  }

  it('that does not end is a 503, and nothing has changed', async () => {
    await site.get('endless', 'Before');
    refuse('update_user_groups', { code: SERIALIZATION_FAILURE }, OFTEN);
    assert.equal((await site.put('endless', 'Never')).status, 503);
    site.proxy.decide = () => 'pass';
    const { json, headers } = await site.get('endless');
    assert.equal(json.user_group.name, 'Before');
    assert.match(headers.etag!, /-1"$/);
  });

  it('in the second statement of an update undoes the first one too, and is not noticed by anybody', async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `half-${index}`);
    await site.get('same', 'Same');
    await Promise.all(ids.map((id) => site.get(id, 'Before')));
    let statements = Number.POSITIVE_INFINITY;
    // Two batches at most, one of them twice: what changes nothing is in one with what does, since it is in the middle.
    for (let round = 0; statements > 3; round++) {
      assert.ok(round < MOST_ROUNDS, 'updates that come together are one batch');
      const found = await Promise.all(ids.map((id) => site.get(id)));
      // Where nothing is to change, the batch looks for the reason, after it has changed the others.
      refuse('find_user_groups', { code: SERIALIZATION_FAILURE }, 1);
      statements = 0;
      const { decide } = site.proxy;
      site.proxy.decide = (subject) => {
        if (subject === 'update_user_groups') statements++;
        return decide(subject);
      };
      const updates = found.map(
        ({ json, headers }) =>
          () =>
            site.put(json.user_group.provided_id, `Round ${round}`, { 'if-match': headers.etag! }),
      );
      const calls = updates.toSpliced(ids.length / 2, 0, () => site.put('same', 'Same'));
      // No 412: done twice, the second time would not find the versions that were named.
      for (const { status } of await Promise.all(calls.map((call) => call()))) assert.equal(status, 200);
    }
  });

  it('costs no connection: the one that has met it is used on', async () => {
    const { headers } = await site.get('kept', 'Before');
    await site.put('kept', 'Warm');
    const { opened } = site.proxy;
    refuse('update_user_groups', { code: SERIALIZATION_FAILURE }, 3);
    assert.equal((await site.put('kept', 'After')).status, 200);
    assert.equal((await site.put('kept', 'Never', { 'if-match': headers.etag! })).status, 412);
    assert.equal(site.proxy.opened, opened);
  });

  it('of two sessions that lock crosswise lets the other go first, and is not noticed by the caller', async () => {
    const ids = ['cross-1', 'cross-2'];
    for (const id of ids) await site.get(id, 'Before');
    // The one who waits longer finds the deadlock, and gives way.
    await operator.query("set deadlock_timeout = '10s'");
    let hasDeadlocked = false;
    for (let round = 0; !hasDeadlocked; round++) {
      assert.ok(round < 50, 'updates that come together are one transaction');
      const [mine, theirs] = round % 2 === 0 ? ids : ids.toReversed();
      await operator.query('begin');
      await lock(mine!);
      const updates = ids.map((id) => site.put(id, `After ${round}`));
      await within(2_000, 'a session to wait for the lock', isSomebodyWaiting);
      const startedAt = performance.now();
      await lock(theirs!);
      hasDeadlocked = performance.now() - startedAt > DEADLOCK_FOUND_MS;
      await operator.query('commit');
      for (const { status, text } of await Promise.all(updates)) assert.equal(status, 200, text);
    }
  });

  it('with somebody who holds a row for long lets the caller go in time, and everybody else is served', async () => {
    await site.get('held', 'Held');
    await site.get('free', 'Free');
    await operator.query('begin');
    await lock('held');
    const held = site.put('held', 'Later');
    await within(2_000, 'a session to wait for the lock', isSomebodyWaiting);
    assert.equal((await site.put('free', 'Served')).status, 200);
    assert.equal((await held).status, 503);
    await operator.query('rollback');
    assert.equal((await site.put('held', 'Later')).status, 200);
  });

  it('under load, of processes that work serializably, costs nothing acknowledged and does nothing twice', async () => {
    await set("default_transaction_isolation = 'serializable'");
    const before = await undone();
    let now = before;
    // Whether two of them meet is chance.
    for (let loads = 0; now === before && loads < MOST_LOADS; loads++) {
      await site.untilBack();
      using callers = site.callers();
      await sleep(FAULT_MS);
      await callers.stopAndCheck();
      now = await undone();
    }
    assert.ok(now > before);
    await set("default_transaction_isolation = 'read committed'");
  });

  /** The next so many requests of the subject end so. */
  function refuse(subject: string, error: { code: string; severity?: string }, times: number): void {
    let left = times;
    site.proxy.decide = (candidate) => (candidate === subject && left-- > 0 ? error : 'pass');
  }

  function set(setting: string): Promise<unknown> {
    return operator.query(`alter database ${operator.database} set ${setting}`);
  }

  function lock(id: string): Promise<unknown> {
    return operator.query('update user_groups set name = name where provided_id = $1', [id]);
  }

  async function isSomebodyWaiting(): Promise<boolean> {
    // In a transaction PostgreSQL shows at every look what it has shown at the first one.
    await operator.query('select pg_stat_clear_snapshot()');
    const { rowCount } = await operator.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount! > 0;
  }

  /** A session counts when it ends, if not before; the next ones have the settings of now. */
  async function undone(): Promise<number> {
    site.proxy.cut();
    await within(2_000, 'all sessions to end', async () => {
      const { rowCount } = await operator.query(
        'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
      return rowCount === 0;
    });
    const { rows } = await operator.query(
      'select xact_rollback from pg_stat_database where datname = current_database()',
    );
    return Number(rows[0].xact_rollback);
  }
});
