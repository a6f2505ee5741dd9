// Connections that cannot be had: the server has given all of them away, or the process uses all that it may.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { run } from '../process.ts';
import { FAULT_MS, Installation } from './installation.ts';
import { OwnServer } from './server.ts';

const MAX_CONNECTIONS = 12;
const UNAVAILABLE = 69;
/** Of an answer of the database; a statement takes as long. */
const SLOW_MS = 100;

describe('A server without a free connection', () => {
  let site: Installation;
  const hogs: pg.Client[] = [];
  before(async () => {
    const server = await OwnServer.start({ max_connections: String(MAX_CONNECTIONS) });
    site = await Installation.start({ database: server.database });
  });
  afterEach(async () => {
    await Promise.all(hogs.splice(0).map((hog) => hog.end()));
    await site.untilBack();
  });
  after(() => site[Symbol.asyncDispose]());

  it('serves those who have connections on, through as few as they are', async (test) => {
    // One after the other needs no second connection.
    for (let call = 0; call < 5; call++) await site.get('one', 'One');
    await takeAllConnections();
    using callers = site.callers();
    await sleep(FAULT_MS);
    await callers.stopAndCheck();
    test.diagnostic(callers.story);
  });

  it('is told to callers in time where there is no connection at all', async () => {
    await site.proxy.refuse();
    await sleep(100);
    await takeAllConnections();
    await site.proxy.accept();
    await site.untilNotReady();
    assert.equal((await site.get('one')).status, 503);
    const env = { ...site.env, UGS_DATABASE_WAIT_MS: '0' };
    const { code, stderr } = await run(site.folder, ['serve'], { env });
    assert.equal(code, UNAVAILABLE);
    assert.match(stderr, /^user-group-service: PostgreSQL: .*too many clients.*\n$/);
  });

  async function takeAllConnections(): Promise<void> {
    try {
      for (;;) {
        const hog = new pg.Client(site.database.url);
        hog.on('error', () => {});
        await hog.connect();
        hogs.push(hog);
      }
    } catch (error) {
      assert.equal((error as { code?: string }).code, '53300');
    }
    assert.ok(hogs.length > 0);
  }
});

describe('A process that may have one connection to a slow database', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start({ env: { UGS_POSTGRES_POOL_SIZE: '1' } });
  });
  after(() => site[Symbol.asyncDispose]());

  it('answers everybody in time', async (test) => {
    site.proxy.delayMs = SLOW_MS;
    using callers = site.callers(64);
    await sleep(FAULT_MS);
    site.proxy.delayMs = 0;
    await site.untilBack(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.story);
  });
});
