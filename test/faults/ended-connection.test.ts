// Connections closed by the server: pg_terminate_backend by an operator, a restarted pooler, a maximum
// session lifetime.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FAULT_MS, Installation } from '../support/faults/installation.ts';

const PERIOD_MS = 100;

describe('Connections closed by the database', () => {
  let site: Installation;
  let operator: pg.Client;
  before(async () => {
    site = await Installation.start({ processes: 2 });
    operator = await site.operator();
  });
  after(() => site[Symbol.asyncDispose]());

  it('while idle cause no failed call', async () => {
    for (let time = 0; time < 10; time++) {
      // Makes enough concurrent calls to open several connections.
      const calls = Array.from({ length: 20 }, (_, index) => site.get(`idle-${time}-${index}`, 'Idle'));
      for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
      await terminateAll();
    }
  });

  for (const [which, terminate] of [
    ['one', terminateOne],
    ['all', terminateAll],
  ] as const) {
    it(`${which} at a time, ten times a second, lose no acknowledged change and apply none twice`, async (test) => {
      using callers = site.callers();
      const end = performance.now() + FAULT_MS;
      let closed = 0;
      while (performance.now() < end) {
        closed += await terminate();
        await sleep(PERIOD_MS);
      }
      await site.waitForRecovery(test);
      await callers.stopAndCheck();
      test.diagnostic(callers.summary);
      assert.ok(closed > 10, `${closed} connections were closed`);
    });
  }

  function terminateOne(): Promise<number> {
    return terminate('order by random() limit 1');
  }

  function terminateAll(): Promise<number> {
    return terminate('');
  }

  async function terminate(which: string): Promise<number> {
    const { rowCount } = await operator.query(
      `select pg_terminate_backend(pid) from (
        select pid from pg_stat_activity
        where datname = current_database() and application_name = 'user-group-service' ${which}) as ended`,
    );
    return rowCount ?? 0;
  }
});
