// Ids of events sort by time: feeds and retention rely on it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { computeBucket } from '../../src/domain/bucket.ts';
import { bucketOfTarget, firstEventIdAt, newEventId } from '../../src/domain/event/event.ts';
import { DAY_MS } from '../../src/domain/instant.ts';
import { isSameTenant } from '../../src/domain/tenant.ts';

const LATER = 4_000_000_000_000;

describe('the id of an event', () => {
  it('has the documented format', () => {
    assert.match(newEventId(1_000), /^evt_[0-9a-f]{32}$/);
  });

  it('starts with the milliseconds since 1970, then counts the events of the same millisecond', () => {
    const ids = [newEventId(LATER), newEventId(LATER), newEventId(LATER)];
    const instant = LATER.toString(16).padStart(12, '0');
    for (const [index, id] of ids.entries())
      assert.equal(id.slice(0, 20), `evt_${instant}${String(index).padStart(4, '0')}`);
    assert.equal(newEventId(LATER + 1).slice(0, 20), `evt_${(LATER + 1).toString(16).padStart(12, '0')}0000`);
  });

  it('sorts after all earlier ones of the process, even if its clock goes back or a millisecond has 100 000', () => {
    const now = LATER + 10;
    let last = newEventId(now);
    for (let count = 0; count < 100_000; count++) {
      const id = newEventId(count % 2 === 0 ? now : now - 5);
      assert.ok(id > last, `${id} > ${last}`);
      last = id;
    }
    assert.equal(last.slice(4, 16), (now + 1).toString(16).padStart(12, '0'));
  });

  it('has the time of its event again once a clock that was ahead is corrected', () => {
    const now = LATER - DAY_MS;
    newEventId(LATER + DAY_MS);
    const id = newEventId(now);
    assert.ok(firstEventIdAt(now) < id && id < firstEventIdAt(now + 1));
    assert.ok(newEventId(now) > id);
  });

  it('sorts between those of the instants before and after', () => {
    const now = LATER + 1_000;
    const id = newEventId(now);
    assert.ok(firstEventIdAt(now) < id && id < firstEventIdAt(now + 1));
    assert.equal(firstEventIdAt(-5), `evt_${'0'.repeat(12)}`);
  });
});

describe('the tenant of an event', () => {
  it('is the same only with the same workspace and environment', () => {
    const tenant = { workspaceId: 1, environment: 'Customer' } as const;
    assert.equal(isSameTenant(tenant, { ...tenant }), true);
    assert.equal(isSameTenant(tenant, { ...tenant, workspaceId: 2 }), false);
    assert.equal(isSameTenant(tenant, { ...tenant, environment: 'Testing' }), false);
  });

  it('determines its bucket, together with the id of its target', () => {
    const tenant = { workspaceId: 1, environment: 'Customer' } as const;
    assert.equal(bucketOfTarget(tenant, { type: 'schema', id: 'a' }), computeBucket(1, 'Customer', 'a'));
  });
});
