// Cursors: opaque texts that encode a position in a list, valid for that list only.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encodeCursor } from '../../src/domain/cursor.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import {
  cursorPosition,
  listCursor,
  listedBytes,
  listStart,
  type Position,
  positionAfter,
  prefixUpperBound,
  startOfNextOrder,
  type UserGroupList,
} from '../../src/domain/user-group/cursor.ts';
import { type UserGroup, userGroupKey } from '../../src/domain/user-group/user-group.ts';
import { EVERY_GROUP } from '../../src/domain/user-group/user-group-filter.ts';
import { codePoint } from '../support/domain/code-point.ts';

const list: UserGroupList = { workspaceId: 7, environment: 'Customer', search: 'a' };
const position: Position = { order: 'name', name: 'Acme', providedId: 'customer-1' };

/** Arbitrary texts like ids and names: code points of every length in UTF-8, and no control characters. */
const text = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '/', '%', 'é', '中', '\u{10ffff}', '😀'),
  maxLength: 20,
});
const anyPosition: fc.Arbitrary<Position> = fc.oneof(
  fc.record({ order: fc.constant('id' as const), providedId: text }, { noNullPrototype: true }),
  fc.record({ order: fc.constant('name' as const), name: text, providedId: text }, { noNullPrototype: true }),
);

describe('a cursor', () => {
  it('decodes to the position that it encodes', () => {
    fc.assert(
      fc.property(anyPosition, (any) => {
        assert.deepEqual(cursorPosition(list, listCursor(list, any)), any);
      }),
    );
  });

  it('has only characters that need no encoding in a URL', () => {
    fc.assert(fc.property(anyPosition, (any) => assert.match(listCursor(list, any), /^[\w-]+$/)));
  });

  it('is invalid for another workspace, environment or search', () => {
    const cursor = listCursor(list, position);
    const others: UserGroupList[] = [
      { ...list, workspaceId: 8 },
      { ...list, workspaceId: 77 },
      { ...list, environment: 'Testing' },
      { ...list, search: '' },
      { ...list, search: 'A' },
      { ...list, search: 'ab' },
    ];
    for (const other of others) assert.equal(cursorPosition(other, cursor), null);
  });

  it('is invalid for the same list with a filter, or with a different filter', () => {
    const filter = { ...EVERY_GROUP, contains: 'a' };
    const filtered = { ...list, filter };
    const cursor = listCursor(filtered, position);
    assert.deepEqual(cursorPosition(filtered, cursor), position);
    assert.equal(cursorPosition(list, cursor), null);
    assert.equal(cursorPosition({ ...list, filter: { ...filter, contains: 'b' } }, cursor), null);
  });

  it('of an earlier version, which had fewer filters, stays valid', () => {
    const earlier = 'jAoeDgoQ3_oOFPQHEJTr2hQWNtZQBjdXN0b21lci0x';
    const filtered = { ...list, filter: { ...EVERY_GROUP, contains: 'a' } };
    assert.deepEqual(cursorPosition(filtered, earlier), position);
    const another = { ...filtered, filter: { ...filtered.filter, neverSeen: true } };
    assert.equal(cursorPosition(another, earlier), null);
  });

  it('is invalid with the checksum of a text that is not a position', () => {
    assert.equal(cursorPosition(list, encodeCursor([7, 'Customer', 'a'], 'a\0b\0c')), null);
    assert.deepEqual(cursorPosition(list, encodeCursor([7, 'Customer', 'a'], 'a')), {
      order: 'id',
      providedId: 'a',
    });
  });

  it('is invalid with any character changed, removed, doubled or added', () => {
    const cursor = listCursor(list, position);
    for (let at = 0; at <= cursor.length; at++) {
      const [before, after] = [cursor.slice(0, at), cursor.slice(at)];
      const changed = ['A', 'B', '-', '_', '9', '=', '+', '%', 'é'].map(
        (inserted) => before + inserted + after.slice(1),
      );
      for (const each of [...changed, before + after.slice(1), before + (after[0] ?? 'A') + after]) {
        if (each !== cursor) assert.equal(cursorPosition(list, each), null, each);
      }
    }
  });

  it('is not an arbitrary text', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (any) => assert.equal(cursorPosition(list, any), null)),
    );
  });
});

describe('the order of a list', () => {
  const bytes = (any: string): Buffer => Buffer.from(any);
  const groupOf = (providedId: string): UserGroup =>
    ({ ...userGroupKey({ workspaceId: 1, environment: 'Customer' }, providedId), name: 'Acme' }) as UserGroup;

  it('has no id between that of a group and the position after it', () => {
    fc.assert(
      fc.property(text, text, (id, other) => {
        const next = bytes(positionAfter('id', groupOf(id)).providedId);
        assert.ok(bytes(id).compare(next) < 0);
        // Any other id is on the same side of both.
        if (id !== other) assert.equal(bytes(other).compare(bytes(id)), bytes(other).compare(next));
      }),
    );
  });

  it('has only ids in the positions in the order of ids', () => {
    const after = positionAfter('id', groupOf('b'));
    assert.deepEqual(Object.keys(after), ['order', 'providedId']);
  });

  it('has the groups of the same name in the order of their ids', () => {
    assert.deepEqual(positionAfter('name', groupOf('b')), {
      order: 'name',
      name: 'Acme',
      providedId: positionAfter('id', groupOf('b')).providedId,
    });
  });

  it('has the groups whose name starts with the search after those whose id does', () => {
    assert.deepEqual(startOfNextOrder('id', list), { order: 'name', name: 'a', providedId: '' });
    assert.equal(startOfNextOrder('name', list), null);
    assert.equal(startOfNextOrder('id', { ...list, search: '' }), null);
  });

  it('ends a page by the bytes of the mappings and properties', () => {
    const mapping = '{"é":1}' as JsonText;
    const properties = '{"a":12}' as JsonText;
    assert.equal(listedBytes({ ...groupOf('a'), mapping, properties }), 8 + 8);
    assert.equal(listedBytes({ ...groupOf('a'), mapping: null, properties }), 8);
    assert.equal(listedBytes({ ...groupOf('a'), mapping, properties: null }), 8);
  });

  it('has exactly the texts with the search as prefix between its bounds', () => {
    fc.assert(
      fc.property(text, text, (search, any) => {
        const start = bytes(listStart({ ...list, search }).providedId);
        const isWithin =
          start.compare(bytes(any)) <= 0 && bytes(any).compare(bytes(prefixUpperBound(search))) <= 0;
        assert.equal(isWithin, any.startsWith(search));
      }),
    );
  });
});
