// What is remembered is an answer for its own text, and for no other.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Recent } from '../../src/domain/recent.ts';
import { keyOf } from '../../src/domain/user-group.ts';

describe('what was worked out lately', () => {
  it('is found under its text, or not at all, whatever came since', () => {
    const recent = new Recent<string>();
    // Few characters and far more texts than there is room for: they meet.
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '0', '1', 'é', '日', '\ud83d'), maxLength: 12 });
    const added = new Set<string>();
    fc.assert(
      fc.property(text, text, (first, second) => {
        assert.equal(recent.add(first, `of ${first}`), `of ${first}`);
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
    const recent = new Recent<number>();
    recent.add('one', 1);
    recent.delete('another');
    assert.equal(recent.get('one'), 1);
    recent.delete('one');
    assert.equal(recent.get('one'), undefined);
  });
});

describe('the key of a group', () => {
  it('is that of its workspace and environment, though others have just asked with the same id', () => {
    for (const workspaceId of [1, 2]) {
      for (const environment of ['Customer', 'Testing'] as const) {
        const { bucket, ...key } = keyOf(workspaceId, environment, 'acme');
        assert.deepEqual(key, { workspaceId, environment, providedId: 'acme' });
        assert.equal(keyOf(workspaceId, environment, 'acme').bucket, bucket);
      }
    }
    assert.notEqual(keyOf(1, 'Customer', 'acme').bucket, keyOf(2, 'Customer', 'acme').bucket);
  });
});
