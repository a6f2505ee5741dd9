// A hint is returned only for the text that it was added for.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { digestToken } from '../../src/domain/token.ts';
import { CallerHints } from '../../src/http/request/caller-hints.ts';

describe('caller hints', () => {
  it('return the value of the text or nothing, even after collisions', () => {
    const hints = new CallerHints<string>(64);
    // Few characters and far more texts than slots cause collisions.
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '0', '1', 'é', '日', '\ud83d'), maxLength: 12 });
    const added = new Set<string>();
    fc.assert(
      fc.property(text, text, (first, second) => {
        hints.add(first, 1, `of ${first}`);
        assert.equal(hints.get(first), `of ${first}`);
        added.add(first);
        const found = hints.get(second);
        if (found !== undefined) assert.ok(added.has(second));
        assert.ok(found === undefined || found === `of ${second}`);
      }),
      { numRuns: 20_000 },
    );
  });

  it('forget a deleted text, and ignore the deletion of an unknown one', () => {
    const hints = new CallerHints<number>(64);
    hints.add('one', 1, 1);
    hints.delete('another');
    assert.equal(hints.get('one'), 1);
    hints.delete('one');
    assert.equal(hints.get('one'), undefined);
  });

  it('are kept for most of half as many digests as there are slots', () => {
    const hints = new CallerHints<number>(4_096);
    const digests = Array.from({ length: 2_048 }, (_, index) => digestToken(`token ${index}`));
    for (const [index, digest] of digests.entries()) hints.add(digest, index, index);
    const kept = digests.filter((digest) => hints.get(digest) !== undefined).length;
    // Single slots would keep 79 per cent of the digests.
    assert.ok(kept > 1_900, `${kept} digests`);
  });

  it('are kept for a tenant, however many digests another one has', () => {
    const hints = new CallerHints<string>(64);
    hints.add(digestToken('own token'), 1, 'own');
    for (let index = 0; index < 10_000; index++) hints.add(digestToken(`token ${index}`), 2, 'other');
    assert.equal(hints.get(digestToken('own token')), 'own');
  });
});
