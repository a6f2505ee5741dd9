// Statements that the database rolls back because of a conflict must be retried.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FAULT_MS, Installation, within } from '../support/faults/installation.ts';
import { served } from '../support/process.ts';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
/** PostgreSQL checks for deadlocks after a second. */
const DEADLOCK_FOUND_MS = 800;
/** Exceeds the number of attempts for any statement. */
const ENDLESS = 20;
/** Limit of rounds: in most of them, the updates form one batch. */
const MAX_ROUNDS = 50;
const MAX_LOADS = 5;

describe('A conflict in the database', () => {
  let site: Installation;
  let operator: pg.Client;
  before(async () => {
    // Updates that reach two threads of a process never form one batch.
    site = await Installation.start({ processes: 2, env: { UGS_THREADS: '1' } });
    operator = await site.operator();
  });
  afterEach(() => {
    site.proxy.decide = () => 'pass';
  });
  after(() => site[Symbol.asyncDispose]());

  for (const severity of ['ERROR', 'FEHLER']) {
    for (const code of [SERIALIZATION_FAILURE, DEADLOCK]) {
      it(`reported as ${severity} ${code} a few times is not visible to callers`, async () => {
        const id = `${severity} ${code}`;
        for (const [subject, call] of [
          ['find_api_tokens', () => site.get(id, 'First')],
          ['create_user_groups', () => site.get(id, 'First')],
          ['find_user_groups', () => site.get(id)],
          ['update_user_groups', () => site.put(id, 'Second')],
        ] as const) {
          rejectNext(subject, { code, severity }, 3);
          assert.equal((await call()).status, 200, subject);
        }
        assert.match((await site.get(id)).headers.etag!, /-2"$/);
      });
    }
  }

  it('that persists causes a 503 and no change', async () => {
    // A busy machine may get a 503 for reads, too.
    await served(() => site.get('endless', 'Before'));
    rejectNext('update_user_groups', { code: SERIALIZATION_FAILURE }, ENDLESS);
    assert.equal((await site.put('endless', 'Never')).status, 503);
    site.proxy.decide = () => 'pass';
    const { json, headers } = await served(() => site.get('endless'));
    assert.equal(json.user_group.name, 'Before');
    assert.match(headers.etag!, /-1"$/);
  });

  it('in the second statement of an update also rolls back the first, and is not visible to callers', async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `half-${index}`);
    await site.get('same', 'Same');
    await Promise.all(ids.map((id) => site.get(id, 'Before')));
    let statements = Number.POSITIVE_INFINITY;
    // At most two batches, one of them retried. The update without a change is in the middle, so that it
    // shares a batch.
    for (let round = 0; statements > 3; round++) {
      assert.ok(round < MAX_ROUNDS, 'concurrent updates form one batch');
      const found = await Promise.all(ids.map((id) => site.get(id)));
      // If an update changes nothing, the batch looks up the reason after applying the other updates.
      rejectNext('find_user_groups', { code: SERIALIZATION_FAILURE }, 1);
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
      // No 412: if applied twice, the second attempt would not find the expected versions.
      for (const { status } of await Promise.all(calls.map((call) => call()))) assert.equal(status, 200);
    }
  });

  it('does not close the connection', async () => {
    const { headers } = await site.get('kept', 'Before');
    await site.put('kept', 'Warm');
    const { opened } = site.proxy;
    rejectNext('update_user_groups', { code: SERIALIZATION_FAILURE }, 3);
    assert.equal((await site.put('kept', 'After')).status, 200);
    assert.equal((await site.put('kept', 'Never', { 'if-match': headers.etag! })).status, 412);
    assert.equal(site.proxy.opened, opened);
  });

  it('between two sessions that lock in opposite order is resolved without an error for the caller', async () => {
    const ids = ['cross-1', 'cross-2'];
    for (const id of ids) await site.get(id, 'Before');
    // The session with the shorter deadlock_timeout detects the deadlock and is rolled back.
    await operator.query("set deadlock_timeout = '10s'");
    let hasDeadlocked = false;
    for (let round = 0; !hasDeadlocked; round++) {
      assert.ok(round < 50, 'concurrent updates form one transaction');
      const [mine, theirs] = round % 2 === 0 ? ids : ids.toReversed();
      await operator.query('begin');
      await lock(mine!);
      const updates = ids.map((id) => site.put(id, `After ${round}`));
      await within(2_000, 'a session to wait for the lock', isSessionWaiting);
      const startedAt = performance.now();
      await lock(theirs!);
      hasDeadlocked = performance.now() - startedAt > DEADLOCK_FOUND_MS;
      await operator.query('commit');
      for (const { status, text } of await Promise.all(updates)) assert.equal(status, 200, text);
    }
  });

  it('with a long transaction that locks a row fails the call within the limit, and other calls are served', async () => {
    await site.get('held', 'Held');
    await site.get('free', 'Free');
    await operator.query('begin');
    await lock('held');
    const held = site.put('held', 'Later');
    await within(2_000, 'a session to wait for the lock', isSessionWaiting);
    assert.equal((await site.put('free', 'Served')).status, 200);
    assert.equal((await held).status, 503);
    await operator.query('rollback');
    assert.equal((await site.put('held', 'Later')).status, 200);
  });

  it('under load with serializable isolation loses no acknowledged change and applies none twice', async () => {
    await set("default_transaction_isolation = 'serializable'");
    const before = await countRollbacks();
    let now = before;
    // Conflicts are a matter of chance.
    for (let loads = 0; now === before && loads < MAX_LOADS; loads++) {
      await site.waitForRecovery();
      using callers = site.callers(16, 0);
      await sleep(FAULT_MS);
      await callers.stopAndCheck();
      now = await countRollbacks();
    }
    assert.ok(now > before);
    await set("default_transaction_isolation = 'read committed'");
  });

  /** Makes the next requests of the subject fail with the error. */
  function rejectNext(subject: string, error: { code: string; severity?: string }, times: number): void {
    let left = times;
    site.proxy.decide = (candidate) => (candidate === subject && left-- > 0 ? error : 'pass');
  }

  function set(setting: string): Promise<unknown> {
    return operator.query(`alter database ${operator.database} set ${setting}`);
  }

  function lock(id: string): Promise<unknown> {
    return operator.query('update user_groups set name = name where provided_id = $1', [id]);
  }

  async function isSessionWaiting(): Promise<boolean> {
    // Within a transaction, PostgreSQL returns the same snapshot of its statistics every time.
    await operator.query('select pg_stat_clear_snapshot()');
    const { rowCount } = await operator.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount! > 0;
  }

  /**
   * Rolled back transactions. Sessions report their statistics when they end; new sessions have the current
   * settings.
   */
  async function countRollbacks(): Promise<number> {
    site.proxy.cut();
    await within(30_000, 'all sessions to end', async () => {
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
