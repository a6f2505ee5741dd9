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

const tenant = { workspaceId: 1, environment: 'Customer' } as const;
const key = userGroupKey(tenant, 'a');

describe('the key of a user group', () => {
  it('is the workspace, the environment and the id of the caller', () => {
    assert.equal(isSameKey(key, userGroupKey(tenant, 'a')), true);
    for (const other of [
      userGroupKey({ ...tenant, workspaceId: 2 }, 'a'),
      userGroupKey({ ...tenant, environment: 'Testing' }, 'a'),
      userGroupKey(tenant, 'A'),
    ]) {
      assert.equal(isSameKey(key, other), false);
      assert.notEqual(keyToString(key), keyToString(other));
    }
  });

  it('has a text of its own, even with slashes in the id', () => {
    assert.notEqual(keyToString(userGroupKey(tenant, '1/a')), keyToString(userGroupKey(tenant, 'a')));
    assert.equal(keyToString(key), keyToString(userGroupKey(tenant, 'a')));
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
