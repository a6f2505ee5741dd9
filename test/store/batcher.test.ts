// Batches with large items or results are split, and the event loop runs in between.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Batcher } from '../../src/store/batcher.ts';

interface Item {
  kind: 'item';
  value: number;
}

const LIMITS = { maxBatch: 256, maxInFlight: 1, maxLingerMs: 0, maxQueued: 1_000 };
const NEVER = Number.POSITIVE_INFINITY;
const items = Array.from({ length: 10 }, (_, value): Item => ({ kind: 'item', value }));

describe('A batch', () => {
  it('with partial results is continued in later turns of the event loop, in order', async () => {
    let turn = 0;
    const many = Array.from({ length: 600 }, (_, value): Item => ({ kind: 'item', value }));
    const runTurns: number[] = [];
    const batcher = new Batcher((batch: Item[]) => {
      runTurns.push(turn);
      return batch.slice(0, 100).map(({ value }) => value);
    }, LIMITS);
    const count = (): void => {
      turn++;
      if (runTurns.length < 6) setImmediate(count);
    };
    setImmediate(count);
    const results = await Promise.all(many.map((item) => batcher.submit(item, NEVER)));
    assert.deepEqual(
      results,
      many.map(({ value }) => value),
    );
    assert.equal(new Set(runTurns).size, runTurns.length, `turns ${runTurns}`);
  });

  it('is limited to one megabyte of commands', async () => {
    const sizes: number[] = [];
    const run = async (batch: Item[]): Promise<number[]> => {
      sizes.push(batch.length);
      return batch.map(({ value }) => value);
    };
    const batcher = new Batcher(run, LIMITS, { charactersOf: () => 400_000 });
    await Promise.all(items.map((item) => batcher.submit(item, NEVER)));
    assert.deepEqual(sizes, [3, 3, 3, 1]);
  });
});
