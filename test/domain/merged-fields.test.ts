// The fields of a user group after a merge patch: what is sent, merged into what is stored, within the
// limits.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonText } from '../../src/domain/json/json-tree.ts';
import { mergeFields } from '../../src/domain/json/merge-patch.ts';
import type { UserGroup } from '../../src/domain/user-group/user-group.ts';
import { Problem } from '../../src/problem.ts';

const storedOf = (mapping: unknown, properties: unknown) =>
  ({
    name: 'Acme',
    mapping: mapping && jsonText(mapping),
    properties: properties && jsonText(properties),
  }) as UserGroup;
const entries = (count: number, prefix = 'a') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 1]));
const pointersOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error.errors.map(({ pointer }) => pointer);
    throw error;
  }
  return null;
};

describe('A patch of a user group', () => {
  it('merges the mapping and the properties, and keeps the rest of what is sent', () => {
    const stored = storedOf({ 40: 1, 41: 2 }, { a: { b: 1, c: 2 } });
    const patch = { name: 'New', mapping: jsonText({ 41: null }), properties: jsonText({ a: { b: null } }) };
    assert.deepEqual(mergeFields(stored, patch), {
      name: 'New',
      mapping: '{"40":1}',
      properties: '{"a":{"c":2}}',
    });
    assert.deepEqual(mergeFields(stored, { properties: jsonText({ d: 1 }) }), {
      properties: '{"a":{"b":1,"c":2},"d":1}',
    });
    assert.deepEqual(mergeFields(stored, { mapping: null }), { mapping: null });
    assert.deepEqual(mergeFields(storedOf(null, null), { mapping: jsonText({ 1: 2 }) }), {
      mapping: '{"1":2}',
    });
  });

  it('may result in 100 entries, but not in more', () => {
    const patch = { properties: jsonText({ b: 1 }), mapping: jsonText({ b: 1 }) };
    assert.equal(
      pointersOf(() => mergeFields(storedOf(entries(99), entries(99)), patch)),
      null,
    );
    assert.deepEqual(
      pointersOf(() => mergeFields(storedOf(entries(99), entries(100)), patch)),
      ['/properties'],
    );
    assert.deepEqual(
      pointersOf(() => mergeFields(storedOf(entries(100), entries(100)), patch)),
      ['/mapping'],
    );
    const replaced = { properties: jsonText({ a0: null, b: 1, c: null }) };
    assert.equal(
      pointersOf(() => mergeFields(storedOf(null, entries(100)), replaced)),
      null,
    );
    const added = { properties: jsonText({ b: 1, c: 1 }) };
    assert.deepEqual(
      pointersOf(() => mergeFields(storedOf(null, entries(99)), added)),
      ['/properties'],
    );
  });

  it('may result in 64 KiB of properties, but not in more', () => {
    const stored = storedOf(null, { a: 'x'.repeat(65_536 - '{"a":"","b":1}'.length) });
    assert.equal(
      pointersOf(() => mergeFields(stored, { properties: jsonText({ b: 1 }) })),
      null,
    );
    assert.deepEqual(
      pointersOf(() => mergeFields(stored, { properties: jsonText({ b: 10 }) })),
      ['/properties'],
    );
  });
});
