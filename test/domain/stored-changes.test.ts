// The stored form of a change in an event: only the differences, the smallest values first if not all fit.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Changes, memberChanges, userGroupChanges } from '../../src/domain/event/changes.ts';
import type { StoredEvent } from '../../src/domain/event/event.ts';
import { eventJson } from '../../src/domain/event/json.ts';
import { jsonText } from '../../src/domain/json/json-tree.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import type { UserGroup } from '../../src/domain/user-group/user-group.ts';

const MAX = 16_384;
const long = 'x'.repeat(300);
const group = {
  name: 'Acme',
  mapping: jsonText({ 40: 1 }),
  properties: null,
  suspendedAt: null,
} as UserGroup;
const published = (changes: JsonText | null) => JSON.parse(memberChanges(changes!));

describe('The changes of a user group', () => {
  it('are all fields of a new one', () => {
    const stored = userGroupChanges(null, group).within(MAX);
    assert.equal(stored, '{"from":null,"to":{"name":"Acme","mapping":{"40":1}}}');
    assert.deepEqual(published(stored), { name: { to: 'Acme' }, mapping: { 40: { to: 1 } } });
  });

  it('are the fields that differ, with those that were or become null', () => {
    const changed = { ...group, name: 'New', mapping: null, properties: jsonText({ a: 1 }) };
    assert.deepEqual(published(userGroupChanges(group, changed).within(MAX)), {
      name: { from: 'Acme', to: 'New' },
      mapping: { 40: { from: 1 } },
      properties: { a: { to: 1 } },
    });
    assert.equal(userGroupChanges(group, { ...group }).within(MAX), null);
  });

  it('include its suspension', () => {
    const suspended = { ...group, suspendedAt: 0 };
    assert.deepEqual(published(userGroupChanges(group, suspended).within(MAX)), {
      suspended: { from: false, to: true },
    });
    assert.deepEqual(published(userGroupChanges(suspended, group).within(MAX)), {
      suspended: { from: true, to: false },
    });
  });
});

describe('Stored changes', () => {
  const differing = (from: object, to: object) =>
    new Changes({ properties: jsonText(from) }, { properties: jsonText(to) });

  it('of a large field have only the members that differ, at the depth at which they do', () => {
    const changes = differing({ long, a: { b: 1, c: [1] } }, { long, a: { b: 2, c: [1] } });
    assert.equal(
      changes.within(MAX),
      '{"from":{"properties":{"a":{"b":1}}},"to":{"properties":{"a":{"b":2}}}}',
    );
  });

  it('of small fields have the fields as they are', () => {
    assert.equal(
      differing({ a: 1, b: 1 }, { a: 1, b: 2 }).within(MAX),
      '{"from":{"properties":{"a":1,"b":1}},"to":{"properties":{"a":1,"b":2}}}',
    );
  });

  it('are none if only the order of the members differs', () => {
    const changes = differing({ long, a: 1 }, { a: 1, long });
    assert.deepEqual(published(changes.within(MAX)), {});
  });

  it('have a field that is absent before or after as null', () => {
    const name = jsonText('A');
    const owned = { name, user_group_id: jsonText('owner') };
    assert.deepEqual(published(new Changes(owned, { name }).within(MAX)), {
      user_group_id: { from: 'owner', to: null },
    });
    assert.deepEqual(published(new Changes({ name }, owned).within(MAX)), {
      user_group_id: { from: null, to: 'owner' },
    });
  });

  it('have both values of a field that is an object only before or after', () => {
    const text = jsonText('text');
    const object = jsonText({ long });
    const toObject = new Changes({ settings: text }, { settings: object });
    assert.deepEqual(published(toObject.within(MAX)), { settings: { from: 'text', to: { long } } });
    const toText = new Changes({ settings: object }, { settings: text });
    assert.deepEqual(published(toText.within(MAX)), { settings: { from: { long }, to: 'text' } });
    const toEmpty = new Changes(
      { settings: null, other: text },
      { settings: jsonText({}), other: jsonText(long) },
    );
    assert.deepEqual(published(toEmpty.within(MAX)), {
      settings: { from: null, to: {} },
      other: { from: 'text', to: long },
    });
  });

  it('that do not fit keep the smallest values, wherever they are', () => {
    const changes = differing({}, { a: long, b: 1, c: 'y'.repeat(50), d: long });
    assert.deepEqual(published(changes.within(256)), {
      properties: { b: { to: 1 }, c: { to: 'y'.repeat(50) }, a: { truncated: true }, d: { truncated: true } },
    });
    assert.equal(
      changes.within(256),
      `{"from":{"properties":{}},"to":{"properties":{"b":1,"c":"${'y'.repeat(50)}"}},"truncated":{"properties":{"a":true,"d":true}}}`,
    );
  });

  it('that do not fit keep no value that is larger than one that they leave out', () => {
    const lengths = [100, 60, 61, 20, 200, 21];
    const members = Object.fromEntries(lengths.map((length, index) => [`m${index}`, 'x'.repeat(length)]));
    const changes = differing({}, members);
    for (let bytes = 160; bytes < 600; bytes++) {
      const { properties } = published(changes.within(bytes));
      const isKept = (name: string) => 'to' in properties[name];
      const names = Object.keys(members);
      const largestKept = Math.max(0, ...names.filter(isKept).map((name) => members[name]!.length));
      for (const name of names.filter((each) => !isKept(each)))
        assert.ok(members[name]!.length >= largestKept, `${name} in ${bytes} bytes`);
    }
  });

  it('never exceed their bound', () => {
    const values = ['é', '', 1.5, null, ['a'], { 'ü"\\': { b: 'x'.repeat(30) } }, 'y'.repeat(100)];
    const document = (seed: number) =>
      jsonText(
        Object.fromEntries(
          Array.from({ length: 40 }, (_, i) => [
            `${'é'.repeat(i % 7)}${i % (29 + seed)}`,
            values[(i * seed + i) % values.length],
          ]),
        ),
      );
    for (const before of [null, { mapping: document(1), properties: document(2), name: jsonText('N') }]) {
      const changes = new Changes(before, {
        mapping: document(3),
        properties: document(4),
        name: jsonText('M'),
      });
      for (let bytes = 150; bytes < 6_000; bytes += 37) {
        const stored = changes.within(bytes)!;
        assert.ok(Buffer.byteLength(stored) <= bytes, `${Buffer.byteLength(stored)} > ${bytes}`);
        assert.deepEqual(Object.keys(published(stored)).sort(), ['mapping', 'name', 'properties']);
      }
    }
  });

  it('distinguish a truncated field from a member with the name truncated', () => {
    const changes = differing({}, { truncated: true });
    assert.deepEqual(published(changes.within(MAX)), { properties: { truncated: { to: true } } });
  });

  it('of a creation that does not fit have nothing before', () => {
    const stored = new Changes(null, { properties: jsonText({ a: long, b: 1 }) }).within(150)!;
    assert.equal(stored, '{"from":null,"to":{"properties":{"b":1}},"truncated":{"properties":{"a":true}}}');
    const noValue = new Changes(null, { mapping: jsonText({}), properties: jsonText({ a: long }) });
    assert.deepEqual(published(noValue.within(200)), {
      mapping: { to: {} },
      properties: { a: { truncated: true } },
    });
  });

  it('name the members of the fields with the shortest names if not all names fit', () => {
    const names = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`a-long-name-${index}`, long]),
    );
    const changes = new Changes(
      { mapping: jsonText({}), properties: jsonText({}) },
      { mapping: jsonText(names), properties: jsonText({ a: 1 }) },
    );
    assert.deepEqual(published(changes.within(220)), {
      mapping: { truncated: true },
      properties: { a: { to: 1 } },
    });
  });
});

describe('An event', () => {
  const event: StoredEvent = {
    bucket: 0 as StoredEvent['bucket'],
    workspaceId: 1,
    environment: 'Customer',
    eventId: 'evt_1',
    type: 'user_group.updated',
    occurredAt: 0,
    actor: { type: 'api_token', id: 3, name: 'proxy', via: 'api' },
    target: { type: 'user_group', id: 'a' },
    position: 9,
    version: 2,
    requestId: 'r',
    changes: '{"from":{"properties":{"n":1.10}},"to":{"properties":{"n":1.1}}}' as JsonText,
  };

  it('is shown without its position and workspace, with the digits of its changes', () => {
    const { changes, ...members } = JSON.parse(eventJson(event));
    assert.deepEqual(members, {
      event_id: 'evt_1',
      type: 'user_group.updated',
      occurred_at: '1970-01-01T00:00:00.000Z',
      actor: { type: 'api_token', id: 3, name: 'proxy', via: 'api' },
      target: { type: 'user_group', id: 'a' },
      version: 2,
      request_id: 'r',
    });
    assert.deepEqual(changes, { properties: { n: { from: 1.1, to: 1.1 } } });
    assert.match(eventJson(event), /"changes":\{"properties":\{"n":\{"from":1\.10,"to":1\.1\}\}\}\}$/);
  });

  it('may have no changes', () => {
    assert.equal(JSON.parse(eventJson({ ...event, changes: null })).changes, null);
  });
});
