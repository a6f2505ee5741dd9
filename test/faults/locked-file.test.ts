// While another program locks the SQLite file, every call gets a response within five seconds of its arrival.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sqlite } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

const LIMIT_MS = 5_000;
/** Longer than two batches wait one after the other. */
const LOCKED_MS = 7_000;
const INTERVAL_MS = 100;
const SOON_MS = 1_000;

describe('A file that another program has locked', () => {
  const service = TestService.of(sqlite, { returnsOverloaded: true });
  const open = () => new DatabaseSync(service.database.url.slice('sqlite:'.length));

  it('delays writes for five seconds at most, and no reads', async () => {
    await service.get({ user_group_id: 'stored', name: 'Stored' });
    const durations: Promise<number>[] = [];
    using other = open();
    other.exec('begin immediate');
    for (let index = 0; index < LOCKED_MS / INTERVAL_MS; index++) {
      durations.push(took(service.put({ user_group_id: 'stored', name: `Locked ${index}` }), 503));
      assert.ok((await took(service.read('stored'), 200)) < SOON_MS);
      await sleep(INTERVAL_MS);
    }
    const longest = Math.max(...(await Promise.all(durations)));
    assert.ok(longest < LIMIT_MS, `${longest} ms`);
    other.exec('rollback');
    assert.equal((await service.put({ user_group_id: 'stored', name: 'Free' })).status, 200);
  });

  it('delays writes until it is unlocked', async () => {
    using other = open();
    other.exec('begin immediate');
    const created = took(service.get({ user_group_id: 'delayed', name: 'Delayed' }), 200);
    await sleep(SOON_MS);
    other.exec('rollback');
    assert.ok((await created) >= SOON_MS);
  });

  /** Returns the milliseconds until the response. */
  async function took(response: Promise<TestResponse>, status: number): Promise<number> {
    const startedAt = performance.now();
    const found = await response;
    assert.equal(found.status, status, found.text);
    return performance.now() - startedAt;
  }
});
