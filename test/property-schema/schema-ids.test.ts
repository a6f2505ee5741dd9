// The schemas that a thread keeps compiled are shared fairly.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EMPTY_OBJECT, jsonText } from '../../src/domain/json/json-tree.ts';
import { SchemaIds } from '../../src/operations/property-schema/validator/schema-ids.ts';

const CAPACITY = 100;
const titled = (title: string | number) => jsonText({ title: String(title) });

describe('The schemas of a thread', () => {
  it('are sent once', () => {
    const ids = new SchemaIds();
    const first = ids.use(1, EMPTY_OBJECT);
    assert.equal(first.schema, EMPTY_OBJECT);
    assert.deepEqual(ids.use(1, EMPTY_OBJECT), { schemaId: first.schemaId, schema: null, dropped: null });
  });

  it('stay there while another tenant changes its own again and again', () => {
    const ids = new SchemaIds();
    const kept = ids.use(1, titled('kept'));
    for (let version = 0; version < 10 * CAPACITY; version++) {
      const { dropped } = ids.use(2, titled(version));
      assert.notEqual(dropped, kept.schemaId);
    }
    assert.equal(ids.use(1, titled('kept')).schema, null);
  });

  it('are dropped when there are too many, the least recently used first', () => {
    const ids = new SchemaIds();
    const all = Array.from({ length: CAPACITY }, (_, index) => ids.use(1, titled(index)));
    ids.use(1, titled(0));
    assert.equal(ids.use(1, EMPTY_OBJECT).dropped, all[1]!.schemaId);
  });
});
