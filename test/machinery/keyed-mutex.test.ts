// In-process mutex with one lock per key.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedMutex } from '../../src/operations/machinery/keyed-mutex.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { sqlite } from '../support/database.ts';
import { storeOf } from '../support/store.ts';

const LIMITS = { maxBatch: 1, maxInFlight: 1, maxLingerMs: 0, maxQueued: 1 };

describe('A keyed mutex', () => {
  const opened = storeOf(sqlite);

  it('runs no call beside another one with its key, even after one between them has timed out', async () => {
    const store = BatchingStore.create(opened.store, { read: LIMITS, write: LIMITS });
    const mutex = new KeyedMutex();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const order: string[] = [];
    const first = mutex.runExclusive('group', store, async () => {
      await released;
      order.push('first');
    });
    const late = store.until(performance.now() + 50);
    const second = mutex.runExclusive('group', late, async () => void order.push('second'));
    const third = mutex.runExclusive('group', store, async () => void order.push('third'));
    await mutex.runExclusive('other', store, async () => void order.push('other'));
    await assert.rejects(second, StoreUnavailable);
    await nextTurn();
    release();
    await Promise.all([first, third]);
    assert.deepEqual(order, ['other', 'first', 'third']);
  });
});
