// Members keep their own keys, whatever was parsed before: V8 can confuse keys that contain an escape.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { jsonText, parseJson } from '../../../src/domain/json/json-tree.ts';
import { parseExactly } from '../../../src/domain/json-schema/exact-number.ts';

const key = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u0001'), maxLength: 3 });
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(1, -0.5, 'a"\\', '123456789012345678', true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(key, fc.constantFrom('__proto__', '1')), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
}));

for (const parse of [parseJson, parseExactly])
  describe(parse.name, () => {
    it('returns the value that the text was made of', () => {
      fc.assert(fc.property(value, (made) => assert.deepEqual(parse(jsonText(made as object)), made)));
    });

    it('distinguishes a quotation mark from a backslash in the key of an earlier object', () => {
      for (const name of ['a\\', 'a"']) {
        const made = { first: 1, [name]: { [name]: 2 } };
        assert.deepEqual(parse(jsonText(made)), made);
      }
    });
  });
