// Buckets are part of every token and every key in the database, so their computation can never change.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BUCKETS, computeBucket, parseBucket } from '../../src/domain/bucket.ts';
import { codePoint } from '../support/domain/code-point.ts';

describe('the bucket of a user group', () => {
  it('is the first 14 bits of SHA-256 over workspace, environment and id', () => {
    // Computed by an independent program.
    assert.equal(computeBucket(1, 'Customer', 'acme'), 4_491);
    assert.equal(computeBucket(1, 'Testing', 'acme'), 8_816);
    assert.equal(computeBucket(2, 'Customer', 'acme'), 8_386);
    assert.equal(computeBucket(1, 'Customer', '日本語'), 11_659);
    assert.equal(computeBucket(1, 'Customer', 'a/b'), 3_045);
  });

  it('is one of 16 384', () => {
    fc.assert(
      fc.property(fc.nat(), fc.string({ unit: codePoint }), (workspaceId, providedId) => {
        const bucket = computeBucket(workspaceId, 'Customer', providedId);
        assert.equal(parseBucket(bucket), bucket);
      }),
    );
  });

  it('spreads the ids of one workspace evenly', () => {
    const sixteenths = new Array<number>(16).fill(0);
    for (let index = 0; index < 16_000; index++) {
      sixteenths[Math.floor(computeBucket(1, 'Customer', `customer-${index}`) / (BUCKETS / 16))]!++;
    }
    // Expects 1,000 each; six standard deviations are 184.
    for (const count of sixteenths) assert.ok(Math.abs(count - 1_000) < 184, String(count));
  });
});

describe('parsing a bucket', () => {
  it('accepts the whole numbers from 0 to 16 383', () => {
    for (const value of [0, 1, 16_383]) assert.equal(parseBucket(value), value);
    for (const value of [-1, 16_384, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.equal(parseBucket(value), null);
    }
  });
});
