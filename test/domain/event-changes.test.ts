// The stored form of changes never exceeds its bound, whatever differs, and has as many names and values as
// fit.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Changes, memberChanges } from '../../src/domain/event/changes.ts';
import { jsonText } from '../../src/domain/json/json-tree.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';

const published = (changes: JsonText | null) => JSON.parse(memberChanges(changes!));

describe('Changes of an event', () => {
  it('never exceed their bound', () => {
    const values = ['é', '', 1.5, null, ['a'], { 'ü"\\': { b: 'x'.repeat(30) } }, 'y'.repeat(100)];
    const document = (seed: number) =>
      jsonText(
        Object.fromEntries(
          Array.from({ length: 40 }, (_, i) => [
            `${'é'.repeat(i % 7)}${i % (29 + seed)}`,
            values[(i * seed + i) % values.length],
          ]),
        ),
      );
    for (const before of [null, { mapping: document(1), properties: document(2), name: jsonText('N') }]) {
      const changes = new Changes(before, {
        mapping: document(3),
        properties: document(4),
        name: jsonText('M'),
      });
      for (let bytes = 150; bytes < 6_000; bytes += 37) {
        const stored = changes.within(bytes)!;
        assert.ok(Buffer.byteLength(stored) <= bytes, `${Buffer.byteLength(stored)} > ${bytes}`);
        assert.deepEqual(Object.keys(published(stored)).sort(), ['mapping', 'name', 'properties']);
      }
    }
  });

  it('keep the smallest values', () => {
    const properties = jsonText({ a: 'x'.repeat(500), b: 1, c: 'y'.repeat(300) });
    const changes = new Changes({ properties: jsonText({ b: 2 }) }, { properties });
    assert.deepEqual(published(changes.within(500)), {
      properties: { b: { from: 2, to: 1 }, a: { truncated: true }, c: { to: 'y'.repeat(300) } },
    });
    assert.deepEqual(published(changes.within(200)), {
      properties: { b: { from: 2, to: 1 }, a: { truncated: true }, c: { truncated: true } },
    });
    assert.deepEqual(published(changes.within(60)), { properties: { truncated: true } });
  });

  it('name the members of a new field even if no value fits', () => {
    const changes = new Changes(null, {
      mapping: jsonText({}),
      properties: jsonText({ a: 'x'.repeat(500) }),
    });
    assert.deepEqual(published(changes.within(200)), {
      mapping: { to: {} },
      properties: { a: { truncated: true } },
    });
  });

  it('distinguish a truncated field from a member with the name truncated', () => {
    const changes = new Changes({ properties: jsonText({}) }, { properties: jsonText({ truncated: true }) });
    assert.deepEqual(published(changes.within(1_000)), { properties: { truncated: { to: true } } });
  });
});
