// In-process mutex with one lock per key.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedMutex } from '../../src/operations/machinery/keyed-mutex.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import { StoreUnavailable, WaitedTooLong } from '../../src/store/port.ts';
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

  for (const [answer, end] of [
    ['have succeeded', () => {}],
    ['were refused', () => assert.fail('refused')],
  ] as const)
    it(`fails otherwise if calls with its key ${answer} while one waited`, async () => {
      const store = BatchingStore.create(opened.store, { read: LIMITS, write: LIMITS });
      const mutex = new KeyedMutex();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const first = mutex.runExclusive('group', store, () => nextTurn().then(end)).catch(() => {});
      const second = mutex.runExclusive('group', store, () => released);
      const late = () => mutex.runExclusive('group', store.until(performance.now() + 300), nextTurn);
      const [third, fourth] = [late(), first.then(late)];
      await assert.rejects(third, WaitedTooLong);
      await assert.rejects(fourth, (error) => !(error instanceof WaitedTooLong));
      release();
      await second;
    });
});
