// The memory of a large body is freed as soon as the body has been parsed, not only when V8 collects garbage.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freeBytes } from '../../src/http/request/chunks.ts';

const MIB = 1024 * 1024;

describe('The memory of bytes that are not used again', () => {
  it('is freed immediately, even if they are freed twice', () => {
    const bytes = Buffer.alloc(64 * MIB);
    const before = process.memoryUsage().arrayBuffers;
    freeBytes(bytes);
    freeBytes(bytes);
    assert.ok(before - process.memoryUsage().arrayBuffers >= 64 * MIB);
  });

  it('is left alone if other bytes are in the same buffer', () => {
    const [first, second] = [Buffer.from('first'), Buffer.from('second')];
    assert.equal(first.buffer, second.buffer);
    freeBytes(first);
    assert.equal(second.toString(), 'second');
  });
});
