// A server that takes no writes: an operator has told it to, for a migration of the server or because its disk fills.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type pg from 'pg';
import { Installation } from './installation.ts';

const DISK_FULL = '53100';
/** The names of the statements. */
const WRITES = /^(?:create|update)_user_groups$|^ping_write$/;
const WRITERS = 16;
const MEASURED_MS = 2_000;
/** Each of two batches of writes at a time goes through one every tenth of a second; reads have theirs anew once a second. */
const MAX_OPENED_PER_SECOND = 40;

describe('A server that takes no writes', () => {
  let site: Installation;
  let operator: pg.Client;
  before(async () => {
    site = await Installation.start();
    operator = await site.operator();
  });
  afterEach(async () => {
    await set('off');
    await site.untilBack();
  });
  after(() => site[Symbol.asyncDispose]());

  it('makes the service not ready, is told to those who write, and serves those who read', async () => {
    const { json } = await site.get('there', 'There');
    await set('on');
    site.proxy.cut();
    await site.untilNotReady();
    assert.equal((await site.put('there', 'Other')).status, 503);
    assert.equal((await site.get('new', 'New')).status, 503);
    assert.equal((await site.rotate(json.user_group.token)).status, 503);
    assert.deepEqual((await site.get('there')).json.user_group, json.user_group);
  });

  it('is written to again as soon as it takes writes, on connections that it has not ended', async () => {
    await set('on');
    site.proxy.cut();
    await Promise.all(Array.from({ length: WRITERS }, (_, index) => site.get(`open-${index}`)));
    assert.equal((await site.get('later', 'Later')).status, 503);
    await set('off');
    await site.untilBack();
    assert.equal((await site.get('later', 'Later')).json.new_user_group, true);
  });

  it('is not stormed with new connections by those who write', async () => {
    await site.get('there', 'There');
    await set('on');
    site.proxy.cut();
    await site.untilNotReady();
    const { opened } = site.proxy;
    const end = performance.now() + MEASURED_MS;
    const writing = Array.from({ length: WRITERS }, async () => {
      while (performance.now() < end) assert.equal((await site.put('there', 'Never')).status, 503);
    });
    await Promise.all(writing);
    const perSecond = (site.proxy.opened - opened) / (MEASURED_MS / 1_000);
    assert.ok(perSecond <= MAX_OPENED_PER_SECOND, `${perSecond} connections a second`);
    assert.ok(perSecond >= 1, 'a server that takes writes again on new connections is found out');
  });

  it('because its disk is full is told to those who write, and serves those who read', async () => {
    await site.get('there', 'There');
    site.proxy.decide = (subject) => (WRITES.test(subject) ? { code: DISK_FULL } : 'pass');
    assert.equal((await site.put('there', 'Other')).status, 503);
    assert.equal((await site.get('full', 'Full')).status, 503);
    assert.deepEqual(await site.isReady(), [false]);
    assert.equal((await site.get('there')).json.user_group.name, 'There');
    site.proxy.heal();
    assert.equal((await site.get('full', 'Full')).json.new_user_group, true);
  });

  /** For the sessions of this database that begin from now on. */
  async function set(value: 'on' | 'off'): Promise<void> {
    await operator.query(`alter database ${operator.database} set default_transaction_read_only = ${value}`);
  }
});
