// Counts per minute that the threads of a process share.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { WindowCounts } from '../../src/scheduling/window-counts.ts';

const MINUTE_MS = 60_000;
const SOURCE = new URL('../../src/scheduling/window-counts.ts', import.meta.url).href;

describe('The counts of a minute', () => {
  it('begin at zero a minute after the first', () => {
    const counts = new WindowCounts(WindowCounts.allocate(64));
    assert.deepEqual(counts.add('a', 1, 1_000), { count: 1, secondsLeft: 60 });
    assert.deepEqual(counts.add('a', 1, 2_000), { count: 2, secondsLeft: 59 });
    assert.deepEqual(counts.add('b', 1, 2_000), { count: 1, secondsLeft: 60 });
    assert.deepEqual(counts.add('a', 1, 1_000 + MINUTE_MS), { count: 1, secondsLeft: 60 });
  });

  it('take bounded memory, however many keys there are', () => {
    const memory = WindowCounts.allocate(16_384);
    const counts = new WindowCounts(memory);
    for (let key = 0; key < 50_000; key++) counts.add(`network ${key}`, 1, key);
    assert.ok(memory.byteLength < 400_000);
    assert.equal(counts.add('network 49999', 1, 50_000).count, 2, 'the latest are kept');
  });

  it('keep the keys whose minute began last', () => {
    const counts = new WindowCounts(WindowCounts.allocate(8));
    for (let key = 0; key < 9; key++) counts.add(`key ${key}`, 1, key);
    assert.equal(counts.add('key 8', 1, 9).count, 2);
    assert.equal(counts.add('key 1', 1, 9).count, 2);
    assert.equal(counts.add('key 0', 1, 9).count, 1, 'the first was forgotten');
  });

  it('are those of all threads, and none is lost', async () => {
    const memory = WindowCounts.allocate(64);
    const threads = Array.from({ length: 4 }, () => {
      const source = `
        const { workerData } = require('node:worker_threads');
        import(workerData.source).then(({ WindowCounts }) => {
          const counts = new WindowCounts(workerData.memory);
          for (let call = 0; call < 20_000; call++) counts.add('key ' + call % 3, 1, 1_000);
        });
      `;
      return new Worker(source, { eval: true, workerData: { memory, source: SOURCE } });
    });
    await Promise.all(threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve))));
    const counts = new WindowCounts(memory);
    const total = [0, 1, 2].map((key) => counts.add(`key ${key}`, 1, 1_000).count - 1);
    assert.equal(total[0]! + total[1]! + total[2]!, 4 * 20_000);
  });
});
