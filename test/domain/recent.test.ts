// What is remembered is an answer for its own text, and for no other.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Recent } from '../../src/domain/recent.ts';

describe('what was worked out lately', () => {
  it('is found under its text, or not at all, whatever came since', () => {
    const recent = new Recent<string>(64);
    // Few characters and far more texts than there is room for: they meet.
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '0', '1', 'é', '日', '\ud83d'), maxLength: 12 });
    const added = new Set<string>();
    fc.assert(
      fc.property(text, text, (first, second) => {
        recent.add(first, `of ${first}`);
        assert.equal(recent.get(first), `of ${first}`);
        added.add(first);
        const found = recent.get(second);
        if (found !== undefined) assert.ok(added.has(second));
        assert.ok(found === undefined || found === `of ${second}`);
      }),
      { numRuns: 20_000 },
    );
  });

  it('is forgotten when it is deleted, and what is not there is not deleted', () => {
    const recent = new Recent<number>(64);
    recent.add('one', 1);
    recent.delete('another');
    assert.equal(recent.get('one'), 1);
    recent.delete('one');
    assert.equal(recent.get('one'), undefined);
  });
});
