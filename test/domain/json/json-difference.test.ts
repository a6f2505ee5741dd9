// The difference between two JSON values: only what differs, at the depth at which it differs.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memberPairs, smallestPair } from '../../../src/domain/json/json-difference.ts';
import { parseTree, sameTree, splitMembers } from '../../../src/domain/json/json-tree.ts';
import type { JsonText } from '../../../src/domain/json/strict-json.ts';

const pairOf = (from: string, to: string) =>
  smallestPair(parseTree(from as JsonText), parseTree(to as JsonText));

describe('The difference between two values', () => {
  it('is none if they are equal, regardless of the order of keys at any depth', () => {
    for (const [from, to] of [
      ['1', '1'],
      ['{}', '{}'],
      ['{"a":1,"b":[{"c":2,"d":3}]}', '{"b":[{"d":3,"c":2}],"a":1}'],
      ['{"a":{"b":1,"c":2}}', '{"a":{"c":2,"b":1}}'],
    ] as const)
      assert.equal(pairOf(from, to), null, from);
  });

  it('is both values if one is not an object', () => {
    for (const [from, to] of [
      ['1', '1.0'],
      ['[1]', '[1,2]'],
      ['[1,2]', '[1]'],
      ['{"a":1}', '[1]'],
      ['"a"', '{"a":1}'],
      ['[{"a":1}]', '[{"a":2}]'],
    ] as const)
      assert.deepEqual(pairOf(from, to), { from, to });
  });

  it('is the members of objects that differ', () => {
    const pair = pairOf(
      '{"a":1,"b":{"c":1,"d":2,"e":3},"f":4}',
      '{"f":4,"b":{"d":2,"c":5,"g":6},"a":1,"h":7}',
    );
    assert.deepEqual(pair, { from: '{"b":{"c":1,"e":3}}', to: '{"b":{"c":5,"g":6},"h":7}' });
  });

  it('has one side if the other is absent', () => {
    assert.deepEqual(smallestPair(undefined, parseTree('{"a":1}' as JsonText)), {
      from: undefined,
      to: '{"a":1}',
    });
    assert.deepEqual(smallestPair('1' as JsonText, undefined), { from: '1', to: undefined });
  });

  it('is the same for members that are not parsed yet', () => {
    const [from, to] = ['{"a":{"b":1,"c":1},"d":1}', '{"d":1,"a":{"c":1,"b":2},"e":null}'] as JsonText[];
    const pairs = [
      { name: '"a"', from: '{"b":1}', to: '{"b":2}' },
      { name: '"e"', from: undefined, to: 'null' },
    ];
    assert.deepEqual(memberPairs(splitMembers(from!), splitMembers(to!)), pairs);
  });
});

describe('Two values are the same', () => {
  const same = (a: string, b: string) => sameTree(parseTree(a as JsonText), parseTree(b as JsonText));

  it('only if each has all members and elements of the other', () => {
    for (const [small, large] of [
      ['{}', '{"a":1}'],
      ['{"a":1}', '{"a":1,"b":1}'],
      ['[]', '[1]'],
      ['[1]', '[1,2]'],
    ] as const) {
      assert.equal(same(small, large), false);
      assert.equal(same(large, small), false);
      assert.equal(same(large, large), true);
    }
    assert.equal(same('{"a":1}', '{"b":1}'), false);
  });
});

describe('Stored JSON that is damaged', () => {
  it('is reported with its place', () => {
    for (const [text, character] of [
      ['', 1],
      ['"abc', 1],
      ['"a\\"', 1],
      ['[1,', 4],
      ['{"a":', 6],
      ['{"a":}', 6],
    ] as const) {
      const error = { message: `stored JSON is not valid at character ${character}` };
      assert.throws(() => parseTree(text as JsonText), error, text);
    }
  });
});
