// The time that tenants owe: what the fast threads lose to each of them is bounded.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TimeAccounts } from '../../src/operations/property-schema/validator/time-accounts.ts';

describe('The accounts of tenants', () => {
  it('allow an occasional slow check', () => {
    const accounts = new TimeAccounts();
    accounts.charge(1, 60);
    assert.equal(accounts.owes(1), false);
  });

  it('charge a tenant for its own slow checks only', () => {
    const accounts = new TimeAccounts();
    for (let check = 0; check < 3; check++) accounts.charge(1, 60);
    assert.equal(accounts.owes(1), true);
    assert.equal(accounts.owes(2), false);
  });

  it('are paid back two minutes after the last slow check at the latest', (test) => {
    let nowMs = 0;
    test.mock.method(performance, 'now', () => nowMs);
    const accounts = new TimeAccounts();
    accounts.charge(1, 1_000_000);
    nowMs = 119_000;
    assert.equal(accounts.owes(1), true);
    nowMs = 121_000;
    assert.equal(accounts.owes(1), false);
  });
});
