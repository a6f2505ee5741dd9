// A database that restarts: after an upgrade, a crash, or a move to another machine.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FAULT_MS, Installation } from '../support/faults/installation.ts';
import { DedicatedServer } from '../support/faults/server.ts';

describe('A database that restarts', () => {
  let server: DedicatedServer;
  let site: Installation;
  before(async () => {
    server = await DedicatedServer.start();
    site = await Installation.start({ processes: 2, database: server.database, proxied: false });
  });
  after(() => site[Symbol.asyncDispose]());

  for (const [title, how] of [
    ['cleanly', 'clean'],
    ['after a crash', 'crash'],
  ] as const) {
    it(`${title} loses no acknowledged change, and is used again after the restart`, async (test) => {
      using callers = site.callers();
      const end = performance.now() + FAULT_MS;
      do {
        await sleep(300);
        await server.stop(how);
        await site.waitUntilNotReady();
        await server.start();
        await site.waitForRecovery(test);
      } while (performance.now() < end);
      await callers.stopAndCheck();
      test.diagnostic(callers.summary);
      assert.ok(callers.unavailable > 0);
    });
  }

  it('because one of its processes was killed loses no acknowledged change', async (test) => {
    const operator = await site.operator();
    const { rows } = await operator.query(
      "select pid from pg_stat_activity where application_name = 'user-group-service' limit 1",
    );
    using callers = site.callers();
    await sleep(200);
    // The server terminates all sessions, since the killed process may have corrupted shared memory.
    process.kill(rows[0].pid, 'SIGKILL');
    await sleep(200);
    await site.waitForRecovery(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
  });
});
