// Filters of lists: a group must meet every condition.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Catalogue } from '../../src/domain/catalogue/catalogue.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import {
  compileFilter,
  EVERY_GROUP,
  searchableText,
  type UserGroupFilter,
} from '../../src/domain/user-group/user-group-filter.ts';

const group = {
  providedId: 'Customer-Straße',
  name: 'ΟΔΟΣ \u212aelvin',
  mapping: '{"40":213,"41":"eu"}' as JsonText,
  properties:
    '{"Plan":"Gold plus","seats":25,"big":9007199254740993,"regions":["EMEA","\\u00c4ther"],"a":{"b":"gold"}}' as JsonText,
  createdAt: 500,
  suspendedAt: null,
  lastSeenAt: 1_000,
};
const isMatch = (filter: Partial<UserGroupFilter>, changes: Partial<typeof group> | object = {}) =>
  compileFilter({ ...EVERY_GROUP, ...filter }, new Catalogue([]))({ ...group, ...changes });

describe('a filter of user groups', () => {
  it('without a condition has every group', () => {
    assert.equal(isMatch({}), true);
  });

  it('by text finds a part of the id or of the name, regardless of case in every script', () => {
    for (const contains of [
      'customer',
      'ER-S',
      'STRASSE',
      'straße',
      'STRAẞE',
      'οδοσ',
      'οδος',
      'KELVIN',
      'vin',
    ])
      assert.equal(isMatch({ contains }), true, contains);
    for (const contains of ['customers', 'kelvin ', 'strase'])
      assert.equal(isMatch({ contains }), false, contains);
  });

  it('takes linear time for a value of combining marks', () => {
    const texts = [
      '\u0301'.repeat(16_000) + '\u0316'.repeat(16_000),
      // Marks of another script than those of accents, which are removed.
      '\u0951'.repeat(16_000) + '\u0952'.repeat(16_000),
      // Invisible characters, which are removed, between marks.
      `${'\u0952'.repeat(15)}${'\u0951'.repeat(15)}\u200d`.repeat(1_000),
      // Letters that NFKD converts to combining marks.
      '\uff9e'.repeat(10_000) + `${'\u0338'.repeat(30)}\uff9e`.repeat(550),
    ];
    for (const text of texts) {
      const { user: before } = process.threadCpuUsage();
      assert.equal(isMatch({ contains: 'plan: gold' }, { properties: JSON.stringify({ text }) }), false);
      // Sorting the marks takes more than half a second.
      assert.ok(process.threadCpuUsage().user - before < 300_000);
    }
  });

  it('finds a text in the composed and in the decomposed form of Unicode', () => {
    const forms = ['NFC', 'NFD'] as const;
    for (const stored of forms)
      for (const typed of forms) {
        const [text, contains] = ['Müller ΐ Å 각 が'.normalize(stored), 'MÜLLER Ϊ́ å 각 が'.normalize(typed)];
        assert.equal(isMatch({ contains }, { providedId: text }), true, `${typed} in ${stored}`);
        assert.equal(isMatch({ contains }, { name: text }), true, `${typed} in ${stored}`);
        const properties = JSON.stringify({ [text]: text });
        assert.equal(isMatch({ contains: `${contains}: ${contains}` }, { properties }), true);
      }
    assert.equal(isMatch({ contains: 'か' }, { name: 'が'.normalize('NFD') }), false);
  });

  it('finds letters with accents by the letters without them, and the other way round', () => {
    const pairs = [
      ['Société Générale', 'societe generale'],
      ['MÜLLER', 'muller'],
      ['Łódź', 'lodz'],
      ['Ørsted Đuro Æon', 'orsted duro aeon'],
      ['İstanbul', 'istanbul'],
      ['ὈΔΥΣΣΕΎΣ', 'οδυσσευς'],
      ['Королёв', 'королев'],
    ] as const;
    assertFoundByEachOther(pairs);
  });

  it('finds full-width letters, ligatures and signs of several letters by the letters, and the letters by them', () => {
    const pairs = [
      ['Ａｃｍｅ', 'acme'],
      ['Oﬃce', 'OFFICE'],
      ['№ ㎏', 'no kg'],
      ['ｶﾞｽ', 'ガス'],
    ] as const;
    assertFoundByEachOther(pairs);
  });

  it('finds what a keyboard or a mail changes: invisible characters, quotes, dashes and points of letters', () => {
    const pairs = [
      ['cust_0000042', 'cust_\u200b0000\u00ad042'],
      ['\u05de\u05f4\u05e8', '\u05de"\u05e8'],
      ['O\'Brien "B"', 'o’brien “b”'],
      ['order-17', 'order\u201117'],
      ['North-South', 'north–south'],
      ['Hearts \u2764\ufe0f', 'hearts \u2764'],
      ['می\u200cخواهم', 'میخواهم'],
      ['شَرِكَة مُحَمَّد', 'شركة محمد'],
      ['שָׁלוֹם', 'שלום'],
    ] as const;
    assertFoundByEachOther(pairs);
    assert.equal(isMatch({ contains: 'कि' }, { name: 'क' }), false);
    for (const contains of ['\u200b', 'plan: \u200b', '\u200b: gold'])
      assert.equal(isMatch({ contains }, { name: 'A', properties: '{"plan":"gold"}' as JsonText }), false);
  });

  it('by the value of a property finds a part of a text, a whole number and an element of a list, regardless of case', () => {
    for (const contains of [
      'plan: gold',
      'PLAN:  Plus ',
      'plan : gold',
      'seats: 25',
      'regions: emea',
      'regions: äther',
      '*: gold',
      '*: emea',
    ])
      assert.equal(isMatch({ contains }), true, contains);
    assert.equal(isMatch({ contains: 'big: 9007199254740993' }), true);
    for (const contains of [
      'plan:gold',
      'seats: 2',
      'big: 9007199254740992',
      'plan: silver',
      'lan: gold',
      'a: gold',
      'b: gold',
      '*: silver',
    ])
      assert.equal(isMatch({ contains }), false, contains);
    assert.equal(isMatch({ contains: 'plan: gold' }, { properties: null }), false);
    assert.equal(isMatch({ contains: 'plan: gold' }, { properties: null, name: 'The Plan: Golden' }), true);
  });

  it('by data source finds a string and a number, and no part of one', () => {
    for (const dataSource of ['213', 'eu']) assert.equal(isMatch({ dataSource }), true, dataSource);
    for (const dataSource of ['21', 'e', '40', '']) assert.equal(isMatch({ dataSource }), false, dataSource);
    assert.equal(isMatch({ dataSource: 'eu' }, { mapping: null }), false);
  });

  it('by data source finds each way to refer to it, and the groups without an entry for a schema whose default it is', () => {
    const catalogue = new Catalogue([
      document('schema', '40', '{"name":"Orders","default_data_source":213}'),
      document('schema', '41', '{"name":"Sales","default_data_source":"gone"}'),
      document('data_source', 'eu', '{"data_source_id":213,"schema_id":"40","name":"EU","attributes":{}}'),
      document('data_source', '7', '{"data_source_id":8,"schema_id":"40","name":"US","attributes":{}}'),
      document('data_source', 'us', '{"data_source_id":7,"schema_id":"40","name":"US","attributes":{}}'),
    ]);
    const uses = (dataSource: string, mapping: string | null) =>
      compileFilter(
        { ...EVERY_GROUP, dataSource },
        catalogue,
      )({ ...group, mapping: mapping as JsonText | null });
    for (const dataSource of ['eu', '213']) {
      for (const mapping of ['{"40":"eu"}', '{"40":213}', '{"40":"213"}', '{"41":1}', '{}', null])
        assert.equal(uses(dataSource, mapping), true, `${dataSource} ${mapping}`);
      assert.equal(uses(dataSource, '{"40":"us"}'), false);
    }
    assert.equal(uses('gone', '{"40":1}'), true);
    assert.equal(uses('gone', '{"41":1}'), false);
    // The text 7 is the id of data source 8.
    assert.deepEqual(
      ['{"40":7}', '{"40":"7"}', '{"40":"us"}', '{"40":8}'].map((mapping) => [
        uses('us', mapping),
        uses('7', mapping),
      ]),
      [
        [true, false],
        [false, true],
        [true, false],
        [false, true],
      ],
    );
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

  it('never seen has no group that was seen, and by creation those created at the instant or later', () => {
    assert.equal(isMatch({ neverSeen: true }), false);
    assert.equal(isMatch({ neverSeen: true }, { lastSeenAt: null }), true);
    assert.equal(isMatch({ createdSince: 500 }), true);
    assert.equal(isMatch({ createdSince: 501 }), false);
  });

  it('by an invalid mapping finds dangling references, unless there is no catalogue', () => {
    const filter = { ...EVERY_GROUP, invalid: 'mapping' } as const;
    const catalogue = new Catalogue([
      document('schema', '41', '{"name":"Sales","default_data_source":null}'),
    ]);
    assert.equal(compileFilter(filter, catalogue)(group), true);
    assert.equal(compileFilter(filter, catalogue)({ ...group, mapping: null }), false);
    assert.equal(compileFilter(filter, new Catalogue([]))(group), false);
  });

  it('has a text for databases, which know only the case of ASCII, if it reads ids and names only', () => {
    const textOf = (filter: Partial<UserGroupFilter>) => searchableText({ ...EVERY_GROUP, ...filter });
    assert.equal(textOf({ contains: 'Acme (EU)', suspended: true }), 'acme (eu)');
    assert.equal(textOf({ contains: 'Straße' }), 'strasse');
    assert.equal(textOf({ contains: '\u212aelvin' }), 'kelvin');
    assert.equal(textOf({ contains: 'Müller' }), 'muller');
    assert.equal(textOf({ contains: 'один' }), null, 'no text of ASCII characters has it');
    assert.equal(textOf({ contains: 'plan: gold' }), undefined, 'also finds a property');
    assert.equal(textOf({ contains: 'acme', dataSource: 'eu' }), undefined, 'reads mappings');
    assert.equal(textOf({ suspended: true }), undefined);
  });

  it('with several conditions has the groups that meet all', () => {
    assert.equal(
      isMatch({ contains: 'customer', dataSource: 'eu', suspended: false, seenBefore: 2_000 }),
      true,
    );
    assert.equal(isMatch({ contains: 'customer', dataSource: 'us' }), false);
  });
});

function document(kind: 'schema' | 'data_source', id: string, body: string) {
  return { kind, id, body: body as JsonText };
}

/** Each text of a pair finds the other one, as a name and as the value of a property. */
function assertFoundByEachOther(pairs: readonly (readonly [one: string, other: string])[]): void {
  for (const [one, other] of pairs)
    for (const [stored, contains] of [
      [one, other],
      [other, one],
    ] as const) {
      assert.equal(isMatch({ contains }, { name: stored }), true, `${contains} in ${stored}`);
      const properties = JSON.stringify({ plan: stored });
      assert.equal(isMatch({ contains: `plan: ${contains}` }, { properties }), true, contains);
    }
}
