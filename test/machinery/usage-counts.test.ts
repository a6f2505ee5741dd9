// Usage counts in memory: no use is lost or counted twice while the database fails.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_MS } from '../../src/domain/instant.ts';
import { userGroupKey } from '../../src/domain/user-group/user-group.ts';
import { Usage } from '../../src/operations/machinery/usage.ts';
import type { BatchingStore } from '../../src/store/batching-store.ts';
import { type Command, StoreUnavailable } from '../../src/store/port.ts';

/** Adds up what is written; fails while `isFailing`. */
class Counter {
  isFailing = false;
  writes = 0;
  readonly stored = new Map<string, number>();
  readonly store = {
    write: async ({ counts }: Command<'addUsage'>): Promise<null> => {
      if (this.isFailing) throw new StoreUnavailable('failing');
      this.writes++;
      for (const { providedId, day, kind, integration, count } of counts) {
        const name = `${providedId} ${day} ${kind} ${integration}`;
        this.stored.set(name, (this.stored.get(name) ?? 0) + count);
      }
      return null;
    },
  } as unknown as BatchingStore;
}

/** Called only with the failures of the counter. */
const onError = (error: unknown) => assert.ok(error instanceof StoreUnavailable);

const tenant = { workspaceId: 1, environment: 'Customer' } as const;
const acme = { ...userGroupKey(tenant, 'acme'), teamId: 1 };

describe('Usage', () => {
  it('keeps what could not be written, and adds later uses', async () => {
    const counter = new Counter();
    const usage = new Usage(counter.store, true, onError);
    counter.isFailing = true;
    usage.count(acme, 'resolves', 0);
    usage.count(acme, 'embed_tokens', 0, 'cube');
    await usage.write();
    usage.count(acme, 'resolves', 0);
    usage.count(acme, 'resolves', DAY_MS);
    await usage.write();
    assert.deepEqual([...counter.stored], []);
    counter.isFailing = false;
    await usage.write();
    await usage.write();
    assert.deepEqual(Object.fromEntries(counter.stored), {
      'acme 0 resolves ': 2,
      'acme 0 embed_tokens cube': 1,
      'acme 1 resolves ': 1,
    });
  });

  it('counts uses that occur during a write', async () => {
    const counter = new Counter();
    const usage = new Usage(counter.store, true, onError);
    const groups = Array.from({ length: 1_000 }, (_, teamId) => ({
      ...userGroupKey(tenant, `group-${teamId}`),
      teamId,
    }));
    for (const group of groups) usage.count(group, 'resolves', 0);
    const writing = usage.write();
    for (const group of groups) usage.count(group, 'resolves', 0);
    await writing;
    await usage.write();
    assert.deepEqual(new Set(counter.stored.values()), new Set([2]));
    assert.equal(counter.stored.size, groups.length);
  });

  it('counts the uses of a renamed user group under the id of each', async () => {
    const counter = new Counter();
    const usage = new Usage(counter.store, true, onError);
    const renamed = { ...userGroupKey(tenant, 'acme-eu'), teamId: 1 };
    for (const group of [acme, renamed, renamed, acme]) usage.count(group, 'resolves', 0);
    await usage.write();
    assert.deepEqual(Object.fromEntries(counter.stored), { 'acme 0 resolves ': 2, 'acme-eu 0 resolves ': 2 });
  });

  it('writes the uses of any number of integrations together', async () => {
    const counter = new Counter();
    const usage = new Usage(counter.store, true, onError);
    for (let integration = 0; integration < 1_000; integration++)
      for (const kind of ['resolves', 'embed_tokens'] as const)
        usage.count(acme, kind, 0, kind === 'resolves' ? '' : `cube-${integration}`);
    await usage.write();
    assert.equal(counter.stored.get('acme 0 resolves '), 1_000);
    assert.equal(counter.stored.size, 1_001);
    assert.equal(counter.writes, 4);
  });

  it('drops the uses of further integrations after 1,000 of an environment on a day', async () => {
    const counter = new Counter();
    const usage = new Usage(counter.store, true, onError);
    const other = { ...acme, ...userGroupKey({ ...tenant, workspaceId: 2 }, 'acme'), teamId: 2 };
    for (let integration = 0; integration < 1_001; integration++)
      usage.count(acme, 'embed_tokens', 0, `cube-${integration}`);
    usage.count(acme, 'embed_tokens', 0, 'cube-0');
    usage.count(other, 'embed_tokens', 0, 'another');
    assert.equal(usage.dropped, 1);
    await usage.write();
    usage.count(acme, 'embed_tokens', 0, 'cube-1000');
    assert.equal(usage.dropped, 2);
    usage.count(acme, 'embed_tokens', DAY_MS, 'cube-1000');
    await usage.write();
    assert.equal(usage.dropped, 2);
    assert.equal(counter.stored.size, 1_002);
  });

  it('drops the uses of further groups after 200,000 while the database fails, and says how many', async () => {
    const counter = new Counter();
    counter.isFailing = true;
    const usage = new Usage(counter.store, true, onError);
    const key = userGroupKey(tenant, 'many');
    for (let teamId = 1; teamId <= 200_000; teamId++) {
      usage.count({ ...key, teamId }, 'resolves', 0);
      if (teamId % 100_000 === 0) await usage.write();
    }
    assert.equal(usage.dropped, 0);
    for (const teamId of [1, 200_001, 200_001, 200_002]) usage.count({ ...key, teamId }, 'resolves', 0);
    assert.equal(usage.dropped, 3);
  });

  it('counts nothing without retention', async () => {
    const counter = new Counter();
    const usage = new Usage(counter.store, false, onError);
    usage.count(acme, 'resolves', 0);
    await usage.write();
    assert.equal(counter.stored.size, 0);
  });
});
