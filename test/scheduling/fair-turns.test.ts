// Tenants take turns by the cost of their items.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairTurns } from '../../src/scheduling/fair-turns.ts';

describe('Fair turns', () => {
  it('give tenants the same cost', () => {
    const turns = new FairTurns();
    const starts = [
      ...[1, 2, 3].map((item) => [`large ${item}`, turns.add(1, 30)] as const),
      ...[1, 2, 3, 4].map((item) => [`small ${item}`, turns.add(2, 10)] as const),
    ];
    assert.deepEqual(
      starts.toSorted(([, a], [, b]) => a - b).map(([name]) => name),
      ['large 1', 'small 1', 'small 2', 'small 3', 'large 2', 'small 4', 'large 3'],
    );
  });

  it('save no cost for a tenant that was idle, and let it start with the current item', () => {
    const turns = new FairTurns();
    for (let item = 0; item < 10; item++) turns.serve(turns.add(1, 10));
    assert.equal(turns.add(1, 10), 100);
    assert.equal(turns.add(2, 10), 90);
    turns.serve(turns.add(2, 1_000));
    turns.serve(turns.add(2, 10));
    assert.equal(turns.add(1, 10), 1_100);
  });

  it('do not go back when an item is served that did not take a turn', () => {
    const turns = new FairTurns();
    for (let item = 0; item < 10; item++) turns.serve(turns.add(1, 10));
    turns.serve(0);
    assert.equal(turns.add(2, 10), 90);
  });

  it('keep the claims of waiting tenants, however many others there are', () => {
    const turns = new FairTurns();
    turns.serve(turns.add(1, 10));
    for (let tenant = 2; tenant < 5_000; tenant++) turns.serve(turns.add(tenant, 0));
    assert.equal(turns.add(1, 10), 10);
  });
});
