// No free connections: all connections of the server are in use, the process uses its whole pool, or its password is
// rejected.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Callers } from '../support/faults/callers.ts';
import { FAULT_MS, Installation } from '../support/faults/installation.ts';
import { authenticates, errorResponse } from '../support/faults/protocol.ts';
import { DedicatedServer } from '../support/faults/server.ts';
import { run } from '../support/process.ts';

const MAX_CONNECTIONS = 12;
const THREADS = 2;
const UNAVAILABLE = 69;
/** Delay of each response of the database, and thus the duration of a statement. */
const SLOW_MS = 100;

describe('A server that accepts no more connections', () => {
  let site: Installation;
  const others: pg.Client[] = [];
  before(async () => {
    const server = await DedicatedServer.start({ max_connections: String(MAX_CONNECTIONS) });
    site = await Installation.start({ database: server.database, env: { UGS_THREADS: String(THREADS) } });
  });
  afterEach(async () => {
    await Promise.all(others.splice(0).map((client) => client.end()));
    await site.waitForRecovery();
  });
  after(() => site[Symbol.asyncDispose]());

  it('still serves processes that have connections, however few', async (test) => {
    // Sequential calls need only one connection.
    for (let call = 0; call < 5; call++) await site.get('one', 'One');
    await takeAllConnections();
    using callers = site.callers(16);
    await sleep(FAULT_MS);
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
    assertServed(callers);
    await site.services[0]!.says(/"level":40.*too many clients already","msg":"the database refuses further/);
  });

  it('still serves processes that have connections, if a pooler has none left', async (test) => {
    await site.get('one', 'One');
    const { opened } = site.proxy;
    const error = { code: '08P01', severity: 'FATAL', text: 'no more connections allowed (max_client_conn)' };
    site.proxy.rewrite = (message) => (authenticates(message) ? errorResponse(error) : message);
    // Attempts to connect overlap.
    site.proxy.delayMs = 20;
    using callers = site.callers(16);
    await sleep(FAULT_MS);
    site.proxy.rewrite = (message) => message;
    site.proxy.delayMs = 0;
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
    assert.ok(site.proxy.opened > opened);
    assertServed(callers);
  });

  it('still serves processes that have connections after a change of the password', async (test) => {
    await site.get('one', 'One');
    const { opened } = site.proxy;
    const restorePassword = await changePassword();
    using callers = site.callers(16);
    await sleep(FAULT_MS);
    await restorePassword();
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
    assert.ok(site.proxy.opened > opened);
    assertServed(callers);
  });

  it('rejects one login a second of each thread, so that the user is not locked out', async () => {
    const restorePassword = await changePassword();
    site.proxy.cut();
    await site.waitUntilNotReady();
    const { opened } = site.proxy;
    using callers = site.callers(16);
    await sleep(FAULT_MS);
    const attempts = site.proxy.opened - opened;
    await restorePassword();
    await callers.stopAndCheck();
    const limit = THREADS * (FAULT_MS / 1_000 + 1);
    assert.ok(attempts > 0 && attempts <= limit, `${attempts} logins`);
  });

  it('causes a 503 within the limit for a process without any connection', async () => {
    await site.proxy.refuse();
    await sleep(100);
    await takeAllConnections();
    await site.proxy.accept();
    await site.waitUntilNotReady();
    assert.equal((await site.get('one')).status, 503);
    const env = { ...site.env, UGS_DATABASE_WAIT_MS: '0' };
    const { code, stderr } = await run(site.folder, ['serve'], { env });
    assert.equal(code, UNAVAILABLE);
    assert.match(stderr, /^user-group-service: PostgreSQL: .*too many clients.*\n$/);
  });

  /** Allows for calls that had to wait for one of the few connections for too long. */
  function assertServed({ served, unavailable, summary }: Callers): void {
    assert.ok(unavailable < served / 100, summary);
  }

  /** Returns a function that restores the password. */
  async function changePassword(): Promise<() => Promise<void>> {
    const { username, password } = new URL(site.database.url);
    const operator = await site.operator();
    const set = async (text: string) => {
      await operator.query(`alter role ${username} password '${text}'`);
    };
    await set('another');
    return () => set(password);
  }

  async function takeAllConnections(): Promise<void> {
    try {
      for (;;) {
        const client = new pg.Client(site.database.url);
        client.on('error', () => {});
        await client.connect();
        others.push(client);
      }
    } catch (error) {
      assert.equal((error as { code?: string }).code, '53300');
    }
    assert.ok(others.length > 0);
  }
});

describe('A process with one connection to a slow database', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start({ env: { UGS_POSTGRES_POOL_SIZE: '1' } });
  });
  after(() => site[Symbol.asyncDispose]());

  it('responds to all callers within the limit', async (test) => {
    site.proxy.delayMs = SLOW_MS;
    using callers = site.callers(64);
    await sleep(FAULT_MS);
    site.proxy.delayMs = 0;
    await site.waitForRecovery(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
  });
});
