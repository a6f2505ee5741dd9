// Bytes of changes that the events of an environment may store in a day.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Changes, memberChanges, SMALL_BYTES } from '../../src/domain/event/changes.ts';
import { EVENT_BYTES, EventQuota, NO_EVENT_QUOTA } from '../../src/domain/event/quota.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import type { Tenant } from '../../src/domain/tenant.ts';

const DAY_MS = 86_400_000;
const tenant: Tenant = { workspaceId: 1, environment: 'Customer' };

/** Returns a creation whose stored form has exactly this many bytes. */
function changesOf(bytes: number): Changes {
  const empty = new Changes(null, { name: '""' as JsonText }).whole.length;
  return new Changes(null, { name: JSON.stringify('x'.repeat(bytes - empty)) as JsonText });
}

function quotaOf(bytesPerDay: number) {
  const reduced: Tenant[] = [];
  const quota = new EventQuota({ bytesPerDay, onReduced: (tenant) => reduced.push(tenant) });
  const bytesAt = (now: number, bytes: number, of = tenant) =>
    Buffer.byteLength(quota.storedForm(of, changesOf(bytes), now)!);
  return { quota, reduced, bytesAt };
}

describe('the quota of events', () => {
  it('is that of one day at first, and fills again within a day', () => {
    const { bytesAt, reduced } = quotaOf(4_000);
    assert.equal(bytesAt(0, 3_000), 3_000);
    assert.equal(bytesAt(0, 1_000), 1_000);
    assert.ok(bytesAt(0, SMALL_BYTES + 1) <= SMALL_BYTES);
    assert.deepEqual(reduced, [tenant]);
    assert.equal(bytesAt(DAY_MS / 2, 2_000), 2_000);
    assert.ok(bytesAt(DAY_MS / 2, 1_000) <= SMALL_BYTES);
    assert.equal(bytesAt(10 * DAY_MS, 4_000), 4_000);
    assert.ok(bytesAt(10 * DAY_MS, 1_000) <= SMALL_BYTES);
  });

  it('is charged nothing for an event that it reduces', () => {
    const { bytesAt } = quotaOf(4_000);
    assert.ok(bytesAt(0, 4_001) <= SMALL_BYTES);
    assert.equal(bytesAt(0, 4_000), 4_000);
  });

  it('is separate for each workspace and environment', () => {
    const { bytesAt, reduced } = quotaOf(1_000);
    const others: Tenant[] = [
      { workspaceId: 2, environment: 'Customer' },
      { workspaceId: 1, environment: 'Testing' },
    ];
    for (const of of [tenant, ...others]) assert.equal(bytesAt(0, 1_000, of), 1_000);
    for (const of of [tenant, ...others]) assert.ok(bytesAt(0, 1_000, of) <= SMALL_BYTES);
    assert.deepEqual(reduced, [tenant, ...others]);
  });

  it('neither reduces nor counts small changes', () => {
    const { bytesAt, reduced } = quotaOf(1_000);
    for (let count = 0; count < 10; count++) assert.equal(bytesAt(0, SMALL_BYTES), SMALL_BYTES);
    assert.equal(bytesAt(0, 1_000), 1_000);
    assert.equal(bytesAt(0, SMALL_BYTES), SMALL_BYTES);
    assert.deepEqual(reduced, []);
  });

  it('is unlimited if it is 0, but each event has a bound', () => {
    const { bytesAt, reduced } = quotaOf(0);
    for (let count = 0; count < 10; count++) assert.equal(bytesAt(0, EVENT_BYTES), EVENT_BYTES);
    assert.ok(bytesAt(0, EVENT_BYTES + 1) <= EVENT_BYTES);
    assert.deepEqual(reduced, []);
    const operator = new EventQuota(NO_EVENT_QUOTA);
    assert.equal(operator.storedForm(tenant, changesOf(9_000), 0)!.length, 9_000);
  });

  it('bounds what callers see to 48 KiB: members with the shortest names, whose values are truncated', () => {
    const properties = (value: string) =>
      `{${Array.from({ length: 1_500 }, (_, index) => `"${index.toString(36)}":${value.repeat(30)}`)}}` as JsonText;
    const changes = new Changes({ properties: properties('1') }, { properties: properties('2') });
    const shown = memberChanges(changes.within(EVENT_BYTES)!);
    assert.ok(shown.length > 2 * EVENT_BYTES && shown.length < 3 * EVENT_BYTES, `${shown.length} bytes`);
  });

  it('stores nothing if nothing changes', () => {
    const { quota } = quotaOf(1_000);
    assert.equal(quota.storedForm(tenant, null, 0), null);
    const name = '"a"' as JsonText;
    assert.equal(quota.storedForm(tenant, new Changes({ name }, { name }), 0), null);
  });

  it('forgets the environment that has been idle for longest when it counts 16 384 others', () => {
    const { bytesAt } = quotaOf(1_000);
    const idle: Tenant = { workspaceId: 2, environment: 'Customer' };
    bytesAt(0, 500);
    bytesAt(0, 500, idle);
    bytesAt(0, 400);
    for (let workspaceId = 3; workspaceId <= 16_384; workspaceId++)
      bytesAt(0, 300, { workspaceId, environment: 'Customer' });
    assert.ok(bytesAt(0, 600, idle) <= SMALL_BYTES);
    bytesAt(0, 300, { workspaceId: 16_385, environment: 'Customer' });
    assert.ok(bytesAt(0, 600) <= SMALL_BYTES);
    assert.equal(bytesAt(0, 600, idle), 600);
  });
});
