// The key of a user group, and the size of its large fields.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import {
  isSameKey,
  keyToString,
  userGroupKey,
  valuesLength,
} from '../../src/domain/user-group/user-group.ts';

const key = userGroupKey(1, 'Customer', 'a');

describe('the key of a user group', () => {
  it('is the workspace, the environment and the id of the caller', () => {
    assert.equal(isSameKey(key, userGroupKey(1, 'Customer', 'a')), true);
    for (const other of [
      userGroupKey(2, 'Customer', 'a'),
      userGroupKey(1, 'Testing', 'a'),
      userGroupKey(1, 'Customer', 'A'),
    ]) {
      assert.equal(isSameKey(key, other), false);
      assert.notEqual(keyToString(key), keyToString(other));
    }
  });

  it('has a text of its own, even with slashes in the id', () => {
    assert.notEqual(
      keyToString(userGroupKey(1, 'Customer', '1/a')),
      keyToString(userGroupKey(1, 'Customer', 'a')),
    );
    assert.equal(keyToString(key), keyToString(userGroupKey(1, 'Customer', 'a')));
  });
});

describe('the size of a user group', () => {
  it('is that of its mapping and properties', () => {
    const [mapping, properties] = ['{"a":1}' as JsonText, '{"a":12}' as JsonText];
    assert.equal(valuesLength({ mapping, properties }), 15);
    assert.equal(valuesLength({ mapping, properties: null }), 7);
    assert.equal(valuesLength({ properties }), 8);
    assert.equal(valuesLength({}), 0);
  });
});
