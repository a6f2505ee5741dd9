// The key of a user group, and the size of its large fields.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { isSameKey, keyOf, keyToString, sizeOf } from '../../src/domain/user-group/user-group.ts';

const key = keyOf(1, 'Customer', 'a');

describe('the key of a user group', () => {
  it('is the workspace, the environment and the id of the caller', () => {
    assert.equal(isSameKey(key, keyOf(1, 'Customer', 'a')), true);
    for (const other of [keyOf(2, 'Customer', 'a'), keyOf(1, 'Testing', 'a'), keyOf(1, 'Customer', 'A')]) {
      assert.equal(isSameKey(key, other), false);
      assert.notEqual(keyToString(key), keyToString(other));
    }
  });

  it('has a text of its own, even with slashes in the id', () => {
    assert.notEqual(keyToString(keyOf(1, 'Customer', '1/a')), keyToString(keyOf(1, 'Customer', 'a')));
    assert.equal(keyToString(key), keyToString(keyOf(1, 'Customer', 'a')));
  });
});

describe('the size of a user group', () => {
  it('is that of its mapping and properties', () => {
    const [mapping, properties] = ['{"a":1}' as JsonText, '{"a":12}' as JsonText];
    assert.equal(sizeOf({ mapping, properties }), 15);
    assert.equal(sizeOf({ mapping, properties: null }), 7);
    assert.equal(sizeOf({ properties }), 8);
    assert.equal(sizeOf({}), 0);
  });
});
