// A capacity that tenants share: one that takes all it can get leaves room for the next.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FairShare } from '../../src/scheduling/fair-share.ts';

const CAPACITY = 256;

/** Takes as much as the tenant is granted; returns how much it holds. */
function takeAll(share: FairShare, tenant: number): number {
  share.take(tenant, share.grant(tenant, CAPACITY));
  return share.heldBy(tenant);
}

describe('A fair share', () => {
  it('is half of the capacity for a tenant that takes all it can get', () => {
    const share = new FairShare(CAPACITY);
    assert.equal(takeAll(share, 1), CAPACITY / 2);
    assert.equal(takeAll(share, 1), CAPACITY / 2);
    assert.equal(share.admits(1), false);
  });

  it('grants what is wanted if that is less', () => {
    const share = new FairShare(CAPACITY);
    assert.equal(share.grant(1, 3), 3);
    assert.equal(share.grant(1, 0), 0);
  });

  it('grants units one at a time or together alike', () => {
    for (const capacity of [CAPACITY, CAPACITY - 1, 1]) {
      const oneByOne = new FairShare(capacity);
      while (oneByOne.admits(1)) oneByOne.take(1, 1);
      assert.equal(oneByOne.heldBy(1), takeAll(new FairShare(capacity), 1), `${capacity} units`);
    }
  });

  it('leaves room for the next tenant, however many hold all they can get', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), (tenants) => {
        const share = new FairShare(CAPACITY);
        for (let tenant = 1; tenant <= tenants; tenant++) takeAll(share, tenant);
        assert.ok(share.admits(tenants + 1));
      }),
    );
  });

  it('grants again what was released', () => {
    const share = new FairShare(CAPACITY);
    const held = takeAll(share, 1);
    share.release(1, held);
    assert.equal(share.heldBy(1), 0);
    assert.equal(takeAll(share, 1), held);
  });

  it('refuses everyone while amounts that were unknown exceed the capacity', () => {
    const share = new FairShare(CAPACITY);
    share.take(1, 2 * CAPACITY);
    assert.equal(share.admits(2), false);
    assert.equal(share.grant(2, 1), 0);
    share.release(1, 2 * CAPACITY);
    assert.equal(share.admits(2), true);
  });
});
