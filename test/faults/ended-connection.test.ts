// Connections that the server ends: an operator's pg_terminate_backend, a pooler that is restarted, a limit on the
// life of a session.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FAULT_MS, Installation } from './installation.ts';

const PERIOD_MS = 100;

describe('Connections that the database ends', () => {
  let site: Installation;
  let operator: pg.Client;
  before(async () => {
    site = await Installation.start({ processes: 2 });
    operator = await site.operator();
  });
  after(() => site[Symbol.asyncDispose]());

  it('while they are idle are not noticed by anybody', async () => {
    for (let time = 0; time < 10; time++) {
      // As many at once as open several connections.
      const calls = Array.from({ length: 20 }, (_, index) => site.get(`idle-${time}-${index}`, 'Idle'));
      for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
      await terminateAll();
    }
  });

  for (const [which, terminate] of [
    ['one', terminateOne],
    ['all', terminateAll],
  ] as const) {
    it(`${which} at a time, ten times a second, cost nothing acknowledged and do nothing twice`, async (test) => {
      using callers = site.callers();
      const end = performance.now() + FAULT_MS;
      let ended = 0;
      while (performance.now() < end) {
        ended += await terminate();
        await sleep(PERIOD_MS);
      }
      await site.untilBack(test);
      await callers.stopAndCheck();
      test.diagnostic(callers.story);
      assert.ok(ended > 10, `${ended} connections have ended`);
    });
  }

  function terminateOne(): Promise<number> {
    return terminated('order by random() limit 1');
  }

  function terminateAll(): Promise<number> {
    return terminated('');
  }

  async function terminated(which: string): Promise<number> {
    const { rowCount } = await operator.query(
      `select pg_terminate_backend(pid) from (
        select pid from pg_stat_activity
        where datname = current_database() and application_name = 'user-group-service' ${which}) as ended`,
    );
    return rowCount ?? 0;
  }
});
