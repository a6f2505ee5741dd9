// A database that ends and comes back: an update of its software, a crash, a machine that is moved.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FAULT_MS, Installation } from './installation.ts';
import { OwnServer } from './server.ts';

describe('A database that ends and comes back', () => {
  let server: OwnServer;
  let site: Installation;
  before(async () => {
    server = await OwnServer.start();
    site = await Installation.start({ processes: 2, database: server.database, proxied: false });
  });
  after(() => site[Symbol.asyncDispose]());

  for (const how of ['in order', 'by a crash'] as const) {
    it(`${how} costs nothing acknowledged, and is used again when it is back`, async (test) => {
      using callers = site.callers();
      const end = performance.now() + FAULT_MS;
      do {
        await sleep(300);
        await server.stop(how);
        await site.untilNotReady();
        await server.start();
        await site.untilBack(test);
      } while (performance.now() < end);
      await callers.stopAndCheck();
      test.diagnostic(callers.story);
      assert.ok(callers.unavailable > 0);
    });
  }

  it('because one of its own processes was killed costs nothing acknowledged', async (test) => {
    const operator = await site.operator();
    const { rows } = await operator.query(
      "select pid from pg_stat_activity where application_name = 'user-group-service' limit 1",
    );
    using callers = site.callers();
    await sleep(200);
    // The server ends all sessions, since one that was killed may have left its memory in disorder.
    process.kill(rows[0].pid, 'SIGKILL');
    await sleep(200);
    await site.untilBack(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.story);
  });
});
