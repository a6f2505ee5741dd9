// Tenants active at the same time, seen by one thread or by several.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TenantActivity } from '../../src/scheduling/tenant-activity.ts';
import { severalTenants } from '../support/tenant-activity.ts';

describe('The activity of tenants', () => {
  it('is not shared while requests are from one tenant', () => {
    const activity = new TenantActivity();
    for (let request = 0; request < 3; request++) activity.seen(1);
    assert.ok(!activity.isShared);
  });

  it('is not shared with a supervisor, but with many health checks', () => {
    const activity = new TenantActivity();
    const check = (times: number) => {
      activity.seen(1);
      for (let time = 0; time < times; time++) activity.seenHealthCheck();
      return activity.isShared;
    };
    assert.deepEqual([check(10), check(1_000)], [false, true]);
  });

  it('is shared in each thread while another thread serves another tenant', () => {
    const memory = TenantActivity.allocate();
    const [one, other] = [new TenantActivity(memory), new TenantActivity(memory)];
    for (let request = 0; request < 2; request++) {
      one.seen(1);
      other.seen(2);
    }
    assert.ok(one.isShared);
    assert.ok(other.isShared);
  });

  it('is shared while requests are from several tenants, and for a second afterwards', async () => {
    const activity = severalTenants();
    await sleep(700);
    activity.seen(1);
    await sleep(700);
    assert.ok(activity.isShared);
    activity.seen(1);
    await sleep(700);
    assert.ok(!activity.isShared);
  });
});
