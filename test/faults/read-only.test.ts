// A read-only server: set by an operator during a migration of the server, or because its disk is full.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type pg from 'pg';
import { postgres } from '../support/database.ts';
import { Installation, RECOVERY_LIMIT_MS } from '../support/faults/installation.ts';
import { FaultProxy } from '../support/faults/proxy.ts';

const DISK_FULL = '53100';
const READ_ONLY = '25006';
/** Names of statements that write. */
const WRITES = /^(?:create|update)_user_groups$|^ping_write$/;
const WRITERS = 16;
const MEASURED_MS = 2_000;
const THREADS = 2;
/**
 * Two concurrent write batches per thread each open a connection every tenth of a second; reads renew theirs
 * once a second.
 */
const MAX_OPENED_PER_SECOND = 40 * THREADS;

describe('A read-only server', () => {
  let site: Installation;
  let operator: pg.Client;
  before(async () => {
    site = await Installation.start({ env: { UGS_THREADS: String(THREADS) } });
    operator = await site.operator();
  });
  afterEach(async () => {
    await set('off');
    await site.waitForRecovery();
  });
  after(() => site[Symbol.asyncDispose]());

  it('makes the service not ready, causes a 503 for writes, and serves reads', async () => {
    const { json } = await site.get('there', 'There');
    await set('on');
    site.proxy.cut();
    await site.waitUntilNotReady();
    assert.equal((await site.put('there', 'Other')).status, 503);
    assert.equal((await site.get('new', 'New')).status, 503);
    assert.equal((await site.rotate(json.user_group.token)).status, 503);
    assert.deepEqual((await site.get('there')).json.user_group, json.user_group);
  });

  it('is written to as soon as it accepts writes again, although old connections remain open', async () => {
    await set('on');
    site.proxy.cut();
    await Promise.all(Array.from({ length: WRITERS }, (_, index) => site.get(`open-${index}`)));
    assert.equal((await site.get('later', 'Later')).status, 503);
    await set('off');
    await site.waitForRecovery();
    assert.equal((await site.get('later', 'Later')).json.new_user_group, true);
  });

  it('does not cause a storm of new connections for writes', async () => {
    await site.get('there', 'There');
    await set('on');
    site.proxy.cut();
    await site.waitUntilNotReady();
    const { opened } = site.proxy;
    const end = performance.now() + MEASURED_MS;
    const writing = Array.from({ length: WRITERS }, async () => {
      while (performance.now() < end) assert.equal((await site.put('there', 'Never')).status, 503);
    });
    await Promise.all(writing);
    const perSecond = (site.proxy.opened - opened) / (MEASURED_MS / 1_000);
    assert.ok(perSecond <= MAX_OPENED_PER_SECOND, `${perSecond} connections a second`);
    assert.ok(perSecond >= 1, 'a server that accepts writes again on new connections is detected');
  });

  it('with a full disk causes a 503 for writes and serves reads', async () => {
    await site.get('there', 'There');
    site.proxy.decide = (subject) => (WRITES.test(subject) ? { code: DISK_FULL } : 'pass');
    assert.equal((await site.put('there', 'Other')).status, 503);
    assert.equal((await site.get('full', 'Full')).status, 503);
    assert.deepEqual(await site.isReady(), [false]);
    assert.equal((await site.get('there')).json.user_group.name, 'There');
    site.proxy.heal();
    assert.equal((await site.get('full', 'Full')).json.new_user_group, true);
  });

  /** Makes new sessions of this database read-only or not. */
  async function set(value: 'on' | 'off'): Promise<void> {
    await operator.query(`alter database ${operator.database} set default_transaction_read_only = ${value}`);
  }
});

describe('A read-only host of DATABASE_URL', () => {
  it('is not written to: another host is', async () => {
    const database = await postgres.create();
    await using readOnly = await FaultProxy.start(database.url);
    readOnly.decide = (subject) => (WRITES.test(subject) ? { code: READ_ONLY } : 'pass');
    const [first, second] = [readOnly.url, database.url].map((url) => new URL(url).host);
    const DATABASE_URL = database.url.replace(second!, `${first},${second}`);
    const hosts = { ...database, env: { ...database.env, DATABASE_URL } };
    await using site = await Installation.start({ database: hosts, proxied: false });
    const isCreated = async () => (await site.get('new', 'New')).status === 200;
    await site.within(RECOVERY_LIMIT_MS, 'a write to the other host', isCreated);
    assert.equal((await site.put('new', 'Other')).status, 200);
    assert.ok(readOnly.opened > 0);
  });
});
