// What the operator reads while the database is away: that it is, and why; that it is back, and after how long; and
// of the calls that failed enough to find one, whatever their number.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Folder, serve } from '../process.ts';
import { Installation } from './installation.ts';
import { OwnServer } from './server.ts';

const CALLS = 500;
const LONGEST_LINE_BYTES = 300;

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

  it('tells once of a database that is away and once that it is back, and in short of calls that failed', async () => {
    await site.proxy.refuse();
    const awayAt = performance.now();
    const answers = [];
    while (answers.length < CALLS) {
      answers.push(...(await Promise.all(Array.from({ length: 50 }, () => site.get('one', 'One')))));
    }
    for (const { status } of answers) assert.equal(status, 503);
    const seconds = Math.ceil((performance.now() - awayAt) / 1_000);
    const failed = entries(/^The database cannot be asked now/);
    await site.proxy.accept();
    await site.untilBack();
    const awayMs = performance.now() - awayAt;

    const [away, ...more] = entries('the database is away');
    assert.deepEqual(more, []);
    assert.equal(away?.level, 50);
    assert.match(away.reason!, /^PostgreSQL: (?:connect ECONNREFUSED|Connection terminated)/);
    const [back, ...again] = entries('the database is back');
    assert.deepEqual(again, []);
    assert.ok(back!.afterMs! <= awayMs && back!.afterMs! > 0);

    assert.ok(failed.length > 0);
    // Ten a second, of the second in which it begins and of the one in which it ends too.
    assert.ok(failed.length <= 10 * (seconds + 1), `${failed.length} lines in ${seconds} seconds`);
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    for (const { level, reason, requestId } of failed) {
      assert.equal(level, 50);
      assert.match(reason!, /^PostgreSQL: /);
      assert.ok(ids.includes(requestId));
    }
    for (const line of site.services[0]!.stdout.split('\n'))
      assert.ok(line.length <= LONGEST_LINE_BYTES, line);
  });

  it('says how many calls it has left out', async () => {
    const before = entries(/cannot be asked now/).length;
    await site.proxy.refuse();
    for (let round = 0; round < 2; round++) {
      await Promise.all(Array.from({ length: 200 }, () => site.get('one')));
      await sleep(1_000);
    }
    await site.proxy.accept();
    await site.untilBack();
    const logged = entries(/cannot be asked now/).slice(before);
    assert.ok(logged.some(({ unlogged = 0 }) => unlogged >= 1));
  });

  function entries(message: string | RegExp): Entry[] {
    const lines = site.services[0]!.stdout.trim().split('\n');
    return lines
      .map((line) => JSON.parse(line) as Entry)
      .filter(({ msg }) => (typeof message === 'string' ? msg === message : message.test(msg)));
  }
});

describe('A server with settings by which it may lose what was acknowledged', () => {
  it('is warned of when the service starts', async () => {
    using folder = new Folder();
    const server = await OwnServer.start({ fsync: 'on', full_page_writes: 'off', synchronous_commit: 'off' });
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
