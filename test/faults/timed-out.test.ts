// A command that times out fails for its caller. The database must not apply it later, over changes
// acknowledged since.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Installation, RECOVERY_LIMIT_MS } from '../support/faults/installation.ts';
import { DedicatedServer } from '../support/faults/server.ts';

const IDS = ['first', 'second'];
/** Shorter than any timeout of a command. */
const SOON_MS = 500;

describe('An update that times out while the database is still executing it', () => {
  let site: Installation;
  let operator: pg.Client;
  before(async () => {
    // The server has no timeout, as behind a pooler without session settings. With one thread, concurrent
    // updates form one statement.
    site = await Installation.start({ env: { UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0', UGS_THREADS: '1' } });
    operator = await site.operator();
    for (const id of IDS) await site.get(id, 'Before');
  });
  after(() => site[Symbol.asyncDispose]());

  it('is not applied over an update acknowledged since', async () => {
    let isCovered = false;
    for (let round = 0; !isCovered; round++) {
      assert.ok(round < 50, 'concurrent updates form one statement');
      const [held, free] = round % 2 === 0 ? IDS : IDS.toReversed();
      await operator.query('begin');
      await operator.query('update user_groups set name = name where provided_id = $1', [held]);
      const timedOut = IDS.map((id) => site.put(id, `Timed out ${round}`));
      // On its own, the free update would finish by then; in one statement with the blocked update it does
      // not.
      const early = await Promise.race([timedOut[IDS.indexOf(free!)], sleep(SOON_MS, null)]);
      const statuses = (await Promise.all(timedOut)).map(({ status }) => status);
      const later = early === null ? await site.put(free!, `Acknowledged ${round}`) : null;
      await operator.query('rollback');
      await sleep(SOON_MS);
      // If the free row is locked first, it stays locked, and nothing is acknowledged.
      if (later?.status !== 200 || statuses.includes(200)) continue;
      assert.equal((await site.get(free!)).json.user_group.name, `Acknowledged ${round}`);
      isCovered = true;
    }
  });
});

describe('An update sent to a frozen database session', () => {
  it('is not applied over an update acknowledged since when the session resumes', async () => {
    const server = await DedicatedServer.start();
    // Another thread could open a session after these are known.
    await using site = await Installation.start({ database: server.database, env: { UGS_THREADS: '1' } });
    const operator = await site.operator();
    await site.get('frozen', 'Before');
    const sessions = await sessionsOf(operator);
    try {
      site.proxy.decide = (subject) => {
        if (subject !== 'update_user_groups') return 'pass';
        site.proxy.decide = () => 'pass';
        for (const pid of sessions) process.kill(pid, 'SIGSTOP');
        return 'pass';
      };
      assert.equal((await site.put('frozen', 'Timed out')).status, 503);
      await site.within(RECOVERY_LIMIT_MS, 'an update to be acknowledged', async () => {
        return (await site.put('frozen', 'Acknowledged')).status === 200;
      });
    } finally {
      for (const pid of sessions) process.kill(pid, 'SIGCONT');
    }
    await site.within(RECOVERY_LIMIT_MS, 'the sessions to end', async () => {
      const open = await sessionsOf(operator);
      return !sessions.some((pid) => open.includes(pid));
    });
    assert.equal((await site.get('frozen')).json.user_group.name, 'Acknowledged');
  });
});

async function sessionsOf(operator: pg.Client): Promise<number[]> {
  const { rows } = await operator.query(
    "select pid from pg_stat_activity where application_name = 'user-group-service'",
  );
  return rows.map(({ pid }) => pid);
}
