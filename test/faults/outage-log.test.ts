// The log during a database outage: the outage with its reason, the recovery with the duration, and a limited
// number of failed calls.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Installation } from '../support/faults/installation.ts';
import { DedicatedServer } from '../support/faults/server.ts';
import { Folder, serve } from '../support/process.ts';

const CALLS = 500;
const LONGEST_LINE_BYTES = 400;

interface Entry {
  level: number;
  msg: string;
  reason?: string;
  requestId?: string;
  unlogged?: number;
  afterMs?: number;
}

describe('The log', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start();
  });
  after(() => site[Symbol.asyncDispose]());

  it('reports an outage of the database once, its recovery once, and failed calls briefly', async () => {
    await site.proxy.refuse();
    const outageAt = performance.now();
    const responses = [];
    while (responses.length < CALLS) {
      responses.push(...(await Promise.all(Array.from({ length: 50 }, () => site.get('one', 'One')))));
    }
    for (const { status } of responses) assert.equal(status, 503);
    const seconds = Math.ceil((performance.now() - outageAt) / 1_000);
    const failed = entries(/^The database is unreachable or timed out/);
    await site.proxy.accept();
    await site.waitForRecovery();
    // The thread that recovers first tells the main thread, which writes the log.
    await site.services[0]!.says(/"msg":"database available again"/);
    const outageMs = performance.now() - outageAt;

    const [away, ...more] = entries('database unavailable');
    assert.deepEqual(more, []);
    assert.equal(away?.level, 50);
    assert.match(away.reason!, /^PostgreSQL: (?:connect ECONNREFUSED|Connection terminated)/);
    const [back, ...again] = entries('database available again');
    assert.deepEqual(again, []);
    assert.ok(back!.afterMs! <= outageMs && back!.afterMs! > 0);

    assert.ok(failed.length > 0);
    // Allows ten lines per second, including the first and the last partial second.
    assert.ok(failed.length <= 10 * (seconds + 1), `${failed.length} lines in ${seconds} seconds`);
    const ids = responses.map(({ headers }) => headers['x-request-id']);
    for (const { level, reason, requestId } of failed) {
      assert.equal(level, 50);
      assert.match(reason!, /^PostgreSQL: /);
      assert.ok(ids.includes(requestId));
    }
    for (const line of site.services[0]!.stdout.split('\n'))
      assert.ok(line.length <= LONGEST_LINE_BYTES, line);
  });

  it('reports how many calls it did not log', async () => {
    const before = entries(/is unreachable or timed out/).length;
    await site.proxy.refuse();
    for (let round = 0; round < 2; round++) {
      await Promise.all(Array.from({ length: 200 }, () => site.get('one')));
      await sleep(1_000);
    }
    await site.proxy.accept();
    await site.waitForRecovery();
    const logged = entries(/is unreachable or timed out/).slice(before);
    assert.ok(logged.some(({ unlogged = 0 }) => unlogged >= 1));
  });

  it('names why a pooler ends a session at its first statement', async () => {
    const text = 'server login has been failing';
    site.proxy.decide = (subject) =>
      subject.includes('pg_control_system') ? { code: '08P01', severity: 'FATAL', text } : 'pass';
    site.proxy.cut();
    const { length } = entries('database unavailable');
    assert.equal((await site.get('one')).status, 503);
    await site.services[0]!.says(new RegExp(`"reason":"PostgreSQL: ${text}`));
    assert.deepEqual(
      entries('database unavailable')
        .slice(length)
        .map(({ reason }) => reason),
      [`PostgreSQL: ${text}`],
    );
    site.proxy.heal();
    await site.waitForRecovery();
  });

  function entries(message: string | RegExp): Entry[] {
    const lines = site.services[0]!.stdout.trim().split('\n');
    return lines
      .map((line) => JSON.parse(line) as Entry)
      .filter(({ msg }) => (typeof message === 'string' ? msg === message : message.test(msg)));
  }
});

describe('A server with settings that may lose acknowledged changes', () => {
  it('causes a warning when the service starts', async () => {
    using folder = new Folder();
    const server = await DedicatedServer.start({
      fsync: 'on',
      full_page_writes: 'off',
      synchronous_commit: 'off',
    });
    const { env } = server.database;
    try {
      await using service = await serve(folder, { env });
      const warned = [
        ...service.stdout.matchAll(/"level":40[^\n]*"msg":"PostgreSQL runs with (\w+) = off: /g),
      ];
      assert.deepEqual(
        warned.map(([, name]) => name),
        ['full_page_writes', 'synchronous_commit'],
      );
    } finally {
      await server.drop();
    }
  });
});
