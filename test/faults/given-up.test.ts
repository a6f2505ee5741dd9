// A command that takes too long is given up, and its caller told so. The database must not do it after all, over what
// others have been told since.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { BACK_LIMIT_MS, Installation, within } from './installation.ts';
import { OwnServer } from './server.ts';

const IDS = ['first', 'second'];
/** Nobody who is given up waits for less. */
const SOON_MS = 500;

describe('An update that is given up while the database still works on it', () => {
  let site: Installation;
  let operator: pg.Client;
  before(async () => {
    // As behind a pooler that takes no limits: the server itself waits for ever.
    site = await Installation.start({ env: { UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0' } });
    operator = await site.operator();
    for (const id of IDS) await site.get(id, 'Before');
  });
  after(() => site[Symbol.asyncDispose]());

  it('is not done over one that was acknowledged since', async () => {
    let hasMet = false;
    for (let round = 0; !hasMet; round++) {
      assert.ok(round < 50, 'updates that come together are one statement');
      const [held, free] = round % 2 === 0 ? IDS : IDS.toReversed();
      await operator.query('begin');
      await operator.query('update user_groups set name = name where provided_id = $1', [held]);
      const givenUp = IDS.map((id) => site.put(id, `Given up ${round}`));
      // Alone it would be done by then; with the one that waits it is not.
      const isTogether = await Promise.race([givenUp[IDS.indexOf(free!)], sleep(SOON_MS, null)]);
      const statuses = (await Promise.all(givenUp)).map(({ status }) => status);
      const later = isTogether === null ? await site.put(free!, `Acknowledged ${round}`) : null;
      await operator.query('rollback');
      await sleep(SOON_MS);
      // Where the free one is locked first, it stays locked, and nothing is acknowledged.
      if (later?.status !== 200 || statuses.includes(200)) continue;
      assert.equal((await site.get(free!)).json.user_group.name, `Acknowledged ${round}`);
      hasMet = true;
    }
  });
});

describe('An update that comes to a session of the database that is frozen', () => {
  it('is not done when the session goes on, over one that was acknowledged since', async () => {
    const server = await OwnServer.start();
    await using site = await Installation.start({ database: server.database });
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
      assert.equal((await site.put('frozen', 'Given up')).status, 503);
      await within(BACK_LIMIT_MS, 'an update to be acknowledged', async () => {
        return (await site.put('frozen', 'Acknowledged')).status === 200;
      });
    } finally {
      for (const pid of sessions) process.kill(pid, 'SIGCONT');
    }
    await within(BACK_LIMIT_MS, 'the sessions to end', async () => {
      const there = await sessionsOf(operator);
      return !sessions.some((pid) => there.includes(pid));
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
