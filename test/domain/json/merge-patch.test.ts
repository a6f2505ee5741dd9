// Merge patches on JSON text: the values follow RFC 7396, and all other text stays unchanged.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mergePatch } from '../../../src/domain/json/merge-patch.ts';
import type { JsonText } from '../../../src/domain/json/strict-json.ts';
import { parseByPlatform } from '../../support/domain/strict-json-property.ts';

function merge(target: string | null, patch: string): string {
  return mergePatch(target as JsonText | null, patch as JsonText).text;
}

describe('a merge patch', () => {
  /** RFC 7396, appendix A. */
  const examples: [target: string, patch: string, result: string][] = [
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ];
  for (const [target, patch, result] of examples) {
    it(`of ${patch} to ${target} gives ${result}, as in the RFC`, () => {
      assert.equal(merge(target, patch), result);
    });
  }

  it('creates an object from null, without the members that are null', () => {
    assert.equal(merge(null, '{"a":1,"b":null,"c":{"d":null}}'), '{"a":1,"c":{}}');
  });

  it('keeps the digits, key order and escapes of the members that it does not name', () => {
    const kept = '"2":1.10,"1":[9007199254740993,{"b":null}],"é\\n":1e400,"😀":-0';
    assert.equal(merge(`{${kept},"x":1}`, '{"x":null}'), `{${kept}}`);
  });

  it('replaces a member in place, and appends new ones in the order of the patch', () => {
    assert.equal(merge('{"b":1,"a":2}', '{"10":0,"a":3,"9":0}'), '{"b":1,"a":3,"10":0,"9":0}');
  });

  it('handles keys that are JavaScript property names', () => {
    const target = '{"constructor":1,"":2,"length":3,"toString":4}';
    assert.equal(merge(target, '{"constructor":null,"":null,"length":null,"toString":null}'), '{}');
  });
});

/** Few keys, so that they collide; JavaScript reorders some of them, and one exists on every object. */
const KEYS = ['a', 'b', '', '1', '0', 'é', '"', '\n', '\\', 'constructor', '😀'];

describe('a merge patch of any document', () => {
  const key = fc.constantFrom(...KEYS);
  const document = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, 0, 'x'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
      fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    ),
  })).value;

  it('gives the same values as the algorithm of the RFC', () => {
    const property = fc.property(document, document, (target, patch) => {
      const merged = merge(JSON.stringify(target), JSON.stringify(patch));
      assert.deepEqual(parseByPlatform(merged), mergeValues(target, patch));
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('gives a result no deeper than the deeper of the two', () => {
    const property = fc.property(document, document, (target, patch) => {
      const merged = JSON.parse(merge(JSON.stringify(target), JSON.stringify(patch)));
      assert.ok(levelsOf(merged) <= Math.max(levelsOf(target), levelsOf(patch)));
    });
    fc.assert(property, { numRuns: 500 });
  });
});

/** RFC 7396, section 2. */
function mergeValues(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergeValues(Object.hasOwn(result, name) ? result[name] : undefined, value);
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf));
}

describe('the text of any merge', () => {
  /** A document as text: an object as its ordered members, any other value as its JSON text. */
  type Text = string | [key: string, Text][];

  const key = fc.constantFrom(...KEYS, '\\');
  const text = fc.letrec<{ text: Text }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(
        'null',
        'true',
        '"x"',
        '1.10',
        '1e400',
        '-0',
        '9007199254740993',
        '[1,{"b":null}]',
        '[]',
      ),
      fc.uniqueArray(fc.tuple(key, tie('text')), { maxLength: 5, selector: ([name]) => name }),
    ),
  })).text;

  it('keeps all members that the patch does not name, byte for byte and in place', () => {
    const property = fc.property(text, text, (target, patch) => {
      assert.equal(merge(print(target), print(patch)), print(mergeTexts(target, patch)));
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  function mergeTexts(target: Text | undefined, patch: Text): Text {
    if (typeof patch === 'string') return patch;
    const members = Array.isArray(target) ? [...target] : [];
    for (const [name, value] of patch) {
      const found = members.findIndex(([each]) => each === name);
      const index = found === -1 ? members.length : found;
      if (value === 'null') members.splice(index, 1);
      else members[index] = [name, mergeTexts(members[index]?.[1], value)];
    }
    return members;
  }

  function print(document: Text): string {
    if (typeof document === 'string') return document;
    return `{${document.map(([name, value]) => `${JSON.stringify(name)}:${print(value)}`).join(',')}}`;
  }
});
