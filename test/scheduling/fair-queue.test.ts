// Tenants that wait for the same thing take turns.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue } from '../../src/scheduling/fair-queue.ts';

function drain<Item>(queue: FairQueue<Item>): Item[] {
  return Array.from({ length: queue.length }, () => queue.shift()!);
}

describe('A fair queue', () => {
  it('serves tenants in turn, and the items of each in their order', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(item.charCodeAt(0), item);
    assert.deepEqual(drain(queue), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    assert.equal(queue.shift(), undefined);
  });

  it('lets a tenant that arrives later wait for one item of each other tenant', () => {
    const queue = new FairQueue<string>();
    for (let item = 1; item <= 1_000; item++) queue.push(1, `first ${item}`);
    assert.equal(queue.shift(), 'first 1');
    queue.push(2, 'second');
    assert.deepEqual([queue.shift(), queue.shift(), queue.shift()], ['first 2', 'second', 'first 3']);
    assert.equal(queue.length, 997);
  });

  it('skips tenants that may not start, which keep their place', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'b1', 'a2']) queue.push(item.charCodeAt(0), item);
    const notA = (tenant: number): boolean => tenant !== 'a'.charCodeAt(0);
    assert.equal(queue.shift(notA), 'b1');
    assert.equal(queue.shift(notA), undefined);
    assert.deepEqual(drain(queue), ['a1', 'a2']);
  });

  it('orders only the items of one tenant by the given order', () => {
    const queue = new FairQueue<number>((item, other) => item < other);
    for (const item of [30, 10, 20]) queue.push(1, item);
    queue.push(2, 25);
    assert.deepEqual(drain(queue), [10, 25, 20, 30]);
  });
});
