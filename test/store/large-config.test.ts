// SQLite reads a configuration of several pages from a snapshot, which keeps the log. The snapshot is open
// only while pages are read, and the log is emptied afterwards.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Document } from '../../src/domain/document.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { purgeEvents } from '../../src/operations/event/purge.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import { CONFIG_PAGE, type Config, type Query, type Store } from '../../src/store/port.ts';
import { openServingStore } from '../../src/store/sqlite/store.ts';
import { Folder } from '../support/process.ts';

const LIMITS = { maxBatch: 1, maxInFlight: 1, maxLingerMs: 0, maxQueued: 100 };
/** Exceeds the time for which emptying the log waits for a snapshot. */
const READING_MS = 300;
const tenant: Tenant = { workspaceId: 1, environment: 'Customer' };

describe('A large configuration (SQLite)', () => {
  let folder: Folder;
  let store: Store;
  beforeEach(async () => {
    folder = new Folder();
    store = openServingStore(folder.join('user-groups.db'));
    const documents = Array.from(
      { length: CONFIG_PAGE + 1 },
      (_, index): Document => ({
        ...{ ...tenant, kind: 'data_source', id: String(index), version: 1, body: '{}' as JsonText },
        ...{ secret: null, createdAt: 1, updatedAt: 1 },
      }),
    );
    await store.write([{ kind: 'copyDocuments', documents }]);
  });
  afterEach(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });

  const logBytes = () => statSync(folder.join('user-groups.db-wal')).size;

  it('keeps no snapshot if another query of its batch fails', async () => {
    const failing = { kind: 'unknown' } as unknown as Query;
    assert.throws(() => store.read([{ kind: 'findConfig', tenant }, failing]));
    await store.write([{ kind: 'ensureWorkspace', workspaceId: 1, name: 'later', now: 1 }]);
    await store.write([{ kind: 'scrub' }]);
    assert.equal(logBytes(), 0);
  });

  it('delays a purge, which then leaves nothing in the log', async () => {
    const [{ pages }] = (await store.read([{ kind: 'findConfig', tenant }])) as [Config];
    const reading = (async () => {
      for (const page of pages) await sleep(READING_MS, page);
    })();
    const limits = { read: LIMITS, write: LIMITS };
    await purgeEvents({ store: BatchingStore.create(store, limits), now: 0, before: 0, pauseMs: 0 });
    assert.equal(logBytes(), 0);
    await reading;
  });
});
