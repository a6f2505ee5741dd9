// Conditions that a list of events checks itself, and cursors, each valid for one list only.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeCursor } from '../../src/domain/cursor.ts';
import { Changes } from '../../src/domain/event/changes.ts';
import { type EventList, eventCursor, eventCursorPosition, START } from '../../src/domain/event/cursor.ts';
import type { Actor, StoredEvent } from '../../src/domain/event/event.ts';
import { actorLabel, compileEventFilter, type EventFilter } from '../../src/domain/event/filter.ts';
import { jsonText } from '../../src/domain/json/json-tree.ts';

const support: Actor = { type: 'api_token', id: 7, name: 'Support Zoë', via: 'api' };
const event = {
  target: { type: 'user_group', id: 'acme' },
  type: 'user_group.updated',
  occurredAt: 1_000,
  actor: support,
  requestId: 'request-1',
  changes: new Changes(
    { name: jsonText('A'), properties: jsonText({ plan: 'gold', seats: 1 }) },
    { name: jsonText('B'), properties: jsonText({ plan: 'gold', seats: 2, 'a.b "c"': true }) },
  ).whole,
} as StoredEvent;
const meets = (filter: EventFilter, changes: Partial<StoredEvent> = {}) =>
  compileEventFilter(filter)({ ...event, ...changes });

describe('A filter of events', () => {
  it('leaves an event out that does not meet one of its conditions', () => {
    const all: EventFilter = {
      targetType: 'user_group',
      actor: 7,
      actorText: 'zoë',
      since: 1_000,
      until: 1_001,
      changed: 'name',
      requestId: 'request-1',
    };
    assert.equal(meets({}), true);
    assert.equal(meets(all), true);
    const others: EventFilter = {
      targetType: 'api_token',
      actor: 8,
      actorText: 'joe',
      since: 1_001,
      until: 1_000,
      changed: 'mapping',
      requestId: 'request-10',
    };
    for (const [name, other] of Object.entries(others))
      assert.equal(meets({ ...all, [name]: other }), false, name);
  });

  it('finds a part of what people call the actor, whatever its case and accents', () => {
    assert.equal(actorLabel(support), 'Support Zoë (7)');
    assert.equal(actorLabel({ ...support, name: null }), 'API token (7)');
    assert.equal(actorLabel({ type: 'api_token', id: null, name: null }), 'Command line');
    assert.equal(actorLabel({ type: 'service', id: null, name: null }), 'The service');
    for (const actorText of ['support', 'ZOË (7', 'zoe', '(7)'])
      assert.equal(meets({ actorText }), true, actorText);
    assert.equal(meets({ actorText: '(8)' }), false);
  });

  it('takes no longer for each event if its text takes long to compare', () => {
    const { user: before } = process.threadCpuUsage();
    // The character stands for 18 letters.
    const meetsLong = compileEventFilter({ actorText: '\ufdfa'.repeat(1_700) });
    for (let count = 0; count < 1_000; count++) assert.equal(meetsLong(event), false);
    // Folding the text for each event takes more than 200 ms.
    assert.ok(process.threadCpuUsage().user - before < 100_000);
  });

  it('finds a field, or a member of one, that was changed', () => {
    for (const changed of ['properties', 'properties.seats', 'properties.a.b "c"'])
      assert.equal(meets({ changed }), true, changed);
    for (const changed of ['seats', 'properties.plan', 'properties.a', 'properties.', 'name.seats', 'name.B'])
      assert.equal(meets({ changed }), false, changed);
    for (const changed of ['name', 'name.B']) assert.equal(meets({ changed }, { changes: null }), false);
  });

  it('finds every member of a field that names none of those that were changed', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`member-${index}`, index]),
    );
    const changes = new Changes({ properties: jsonText({}) }, { properties: jsonText(properties) });
    for (const changed of ['properties', 'properties.other'])
      assert.equal(meets({ changed }, { changes: changes.within(150) }), true, changed);
    assert.equal(meets({ changed: 'mapping.other' }, { changes: changes.within(150) }), false);
    assert.equal(meets({ changed: 'properties.other' }, { changes: changes.within(10_000) }), false);
  });
});

describe('A cursor of events', () => {
  const list: EventList = {
    tenant: { workspaceId: 1, environment: 'Customer' },
    order: 'newest',
    type: null,
    target: null,
    filter: {},
  };
  const target = { type: 'user_group', id: 'acme' } as const;
  const position = { position: 12, eventId: 'evt_1' };

  it('decodes to the position that it encodes, with the place in the history of a renamed group', () => {
    const place = { id: 'a 1 2 b', before: 9_007_199_254_740_991, lastRename: 1_234_567_890_123_456 };
    const last = { position: Number.MAX_SAFE_INTEGER, eventId: '' };
    for (const each of [START, position, last, { ...position, place }]) {
      const cursor = eventCursor({ ...list, target }, each);
      assert.match(cursor, /^[\w-]+$/);
      assert.deepEqual(eventCursorPosition({ ...list, target }, cursor), each);
    }
  });

  it('is valid for no other list', () => {
    const filters: EventFilter[] = [
      {},
      { targetType: 'user_group' },
      { actor: 7 },
      { since: 7 },
      { until: 7 },
      { changed: 'name' },
      { actorText: 'name' },
      { requestId: 'name' },
      { actorText: 'name', requestId: 'name' },
      { changed: 'name', requestId: 'name' },
    ];
    const lists: EventList[] = [
      ...filters.map((filter) => ({ ...list, filter })),
      { ...list, order: 'oldest' },
      { ...list, type: 'user_group.updated' },
      { ...list, target },
      { ...list, target: { ...target, id: 'other' } },
      { ...list, target: { type: 'schema', id: 'acme' } },
      { ...list, tenant: { workspaceId: 1, environment: 'Testing' } },
      { ...list, tenant: { workspaceId: 2, environment: 'Customer' } },
    ];
    for (const [index, own] of lists.entries())
      for (const [other, each] of lists.entries()) {
        const found = eventCursorPosition(each, eventCursor(own, position));
        assert.deepEqual(found, index === other ? position : null, `${index} in ${other}`);
      }
  });

  it('is invalid with the checksum of a text that is not a position', () => {
    const name = ['events', 1, 'Customer', 'newest', null, undefined, undefined];
    for (const text of [
      '',
      '1',
      '-1 a',
      'x1 a',
      '1 a b',
      '1 a 2 3',
      '1 a 2 3 ',
      '1 a 2 x b',
      '1  a',
      `${'1'.repeat(17)} a`,
      '1.5 a',
      '1 é',
    ])
      assert.equal(eventCursorPosition(list, encodeCursor(name, text)), null, text);
    assert.notEqual(eventCursorPosition(list, encodeCursor(name, '1 a')), null);
  });

  it('is invalid if it is any other text', () => {
    for (const cursor of [
      '',
      'x',
      `${eventCursor(list, position)}A`,
      eventCursor(list, { position: -1, eventId: 'evt_1' }),
    ])
      assert.equal(eventCursorPosition(list, cursor), null, cursor);
  });

  it('of an earlier version, which did not filter by actor or request, stays valid', () => {
    // Cursor of an earlier version, for events since 7.
    const earlier = 'ss2XylyJdrSpkb7Tg8Q5SkMTIgZXZ0XzE';
    assert.deepEqual(eventCursorPosition({ ...list, filter: { since: 7 } }, earlier), position);
  });
});
