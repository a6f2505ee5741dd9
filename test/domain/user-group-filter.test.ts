// Filters of lists: a group must meet every condition.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { matcherOf, type UserGroupFilter } from '../../src/domain/user-group/user-group-filter.ts';

const none: UserGroupFilter = { contains: null, dataSource: null, suspended: null, seenBefore: null };
const group = {
  providedId: 'Customer-Straße',
  name: 'ΟΔΟΣ \u212aelvin',
  mapping: '{"40":213,"41":"eu"}' as JsonText,
  suspendedAt: null,
  lastSeenAt: 1_000,
};
const isMatch = (filter: Partial<UserGroupFilter>, changes: Partial<typeof group> | object = {}) =>
  matcherOf({ ...none, ...filter })({ ...group, ...changes });

describe('a filter of user groups', () => {
  it('without a condition has every group', () => {
    assert.equal(isMatch({}), true);
  });

  it('by text finds a part of the id or of the name, regardless of case in every script', () => {
    for (const contains of ['customer', 'ER-S', 'STRASSE', 'straße', 'οδοσ', 'οδος', 'KELVIN', 'vin'])
      assert.equal(isMatch({ contains }), true, contains);
    for (const contains of ['customers', 'kelvin ', 'strase'])
      assert.equal(isMatch({ contains }), false, contains);
  });

  it('by data source finds a string and a number, and no part of one', () => {
    for (const dataSource of ['213', 'eu']) assert.equal(isMatch({ dataSource }), true, dataSource);
    for (const dataSource of ['21', 'e', '40', '']) assert.equal(isMatch({ dataSource }), false, dataSource);
    assert.equal(isMatch({ dataSource: 'eu' }, { mapping: null }), false);
  });

  it('by suspension finds the groups that are suspended, or those that are not', () => {
    for (const suspended of [true, false]) {
      assert.equal(isMatch({ suspended }, { suspendedAt: 5 }), suspended);
      assert.equal(isMatch({ suspended }), !suspended);
    }
  });

  it('by last use finds the groups that were last seen before the instant, or never', () => {
    assert.equal(isMatch({ seenBefore: 1_001 }), true);
    assert.equal(isMatch({ seenBefore: 1_000 }), false);
    assert.equal(isMatch({ seenBefore: 0 }, { lastSeenAt: null }), true);
  });

  it('with several conditions has the groups that meet all', () => {
    assert.equal(
      isMatch({ contains: 'customer', dataSource: 'eu', suspended: false, seenBefore: 2_000 }),
      true,
    );
    assert.equal(isMatch({ contains: 'customer', dataSource: 'us' }), false);
  });
});
