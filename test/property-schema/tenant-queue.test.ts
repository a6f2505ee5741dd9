// The order in which tenants are served.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Queued, TenantQueue } from '../../src/operations/property-schema/validator/tenant-queue.ts';

const item = (tenant: number, more: Partial<Queued> = {}): Queued => ({
  tenant,
  isLowPriority: false,
  startBy: Number.POSITIVE_INFINITY,
  ...more,
});

/** Serves everything, charging `ms` to the tenant of each item; returns the tenants in the order served. */
function serve(queue: TenantQueue<Queued>, ms: (tenant: number) => number): number[] {
  const served: number[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    served.push(next.tenant);
    queue.charge(next.tenant, ms(next.tenant));
  }
  return served;
}

describe('A queue of tenants', () => {
  it('serves tenants with equal work in turn, however much one of them has queued', () => {
    const queue = new TenantQueue<Queued>();
    for (let index = 0; index < 4; index++) queue.add(item(1));
    for (let index = 0; index < 2; index++) queue.add(item(2));
    assert.deepEqual(
      serve(queue, () => 1),
      [1, 2, 1, 2, 1, 1],
    );
  });

  it('serves a tenant with cheap work before one with expensive work', () => {
    const queue = new TenantQueue<Queued>();
    for (let index = 0; index < 3; index++) queue.add(item(1));
    for (let index = 0; index < 3; index++) queue.add(item(2));
    assert.deepEqual(
      serve(queue, (tenant) => (tenant === 1 ? 250 : 1)),
      [1, 2, 2, 2, 1, 1],
    );
  });

  it('gives a tenant no credit for the time in which it was idle', () => {
    const queue = new TenantQueue<Queued>();
    for (let index = 0; index < 5; index++) queue.add(item(1));
    serve(queue, () => 100);
    for (const tenant of [1, 1, 2, 2, 2, 2]) queue.add(item(tenant));
    assert.deepEqual(
      serve(queue, () => 100),
      [2, 1, 2, 1, 2, 2],
    );
  });

  it('serves the last items when no others wait', () => {
    const queue = new TenantQueue<Queued>();
    queue.add(item(1, { isLowPriority: true }));
    for (const tenant of [2, 2, 3]) queue.add(item(tenant));
    assert.deepEqual(serve(queue, () => 1).at(-1), 1);
  });

  it('has room for the next tenant when one has used all that it may', () => {
    const queue = new TenantQueue<Queued>();
    while (queue.add(item(1)));
    assert.equal(queue.add(item(2)), true);
  });

  it('charges a tenant in constant time, however many others there are', () => {
    const queue = new TenantQueue<Queued>();
    const start = process.cpuUsage();
    for (let tenant = 0; tenant < 30_000; tenant++) {
      queue.add(item(tenant));
      serve(queue, () => 1);
    }
    const { user } = process.cpuUsage(start);
    assert.ok(user < 500_000, `${user} microseconds`);
  });

  it('returns the items that are late, even those that are not next', () => {
    const queue = new TenantQueue<Queued>();
    queue.add(item(1));
    queue.add(item(2, { isLowPriority: true, startBy: 0 }));
    assert.deepEqual(
      queue.takeLate().map(({ tenant }) => tenant),
      [2],
    );
    assert.deepEqual(
      serve(queue, () => 1),
      [1],
    );
  });
});
