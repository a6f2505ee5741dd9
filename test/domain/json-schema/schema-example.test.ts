// Example properties, used to time a new schema: as large as properties may be, and full of what the schema
// describes.

// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../../src/domain/field.ts';
import { schemaExamples } from '../../../src/domain/json-schema/example.ts';

const string = { type: 'string' };
const schemas: object[] = [
  {},
  { properties: { a: string, b: { type: 'array', items: { type: 'object', properties: { c: string } } } } },
  { required: ['a'], additionalProperties: { pattern: '^ab+' } },
  {
    properties: { a: { enum: ['x', 'y'] }, b: { const: { c: 1 } }, d: { $ref: '#/$defs/e~1f' } },
    $defs: { 'e/f': { minimum: 1 } },
  },
  { properties: { a: { $ref: '#' } } },
  {
    patternProperties: { '^plan_\\d': { uniqueItems: true } },
    allOf: [{ properties: { a: { prefixItems: [string, {}] } } }],
  },
  { if: { required: ['a'] }, then: { properties: { a: { oneOf: [{ maxLength: 3 }, { type: 'number' }] } } } },
  {
    $dynamicRef: '#/$defs/a',
    $defs: { a: { dependentSchemas: { b: { properties: { c: { type: 'boolean' } } } } } },
  },
];
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

describe('The examples of a schema', () => {
  for (const schema of schemas) {
    it(`are the empty object, then large ones within the limits, for ${JSON.stringify(schema)}`, () => {
      const [first, ...others] = [...schemaExamples(schema, () => {})];
      assert.deepEqual(first, {});
      assert.ok(others.length >= 4);
      const sizes = others.map((example) => JSON.stringify(example).length);
      assert.ok(Math.max(...sizes) <= limits.propertiesBytes);
      assert.ok(Math.max(...sizes) > limits.propertiesBytes / 4, String(sizes));
      for (const example of others) assert.ok(depthOf(example) <= limits.propertiesLevels + 1);
    });
  }

  it('are not built to the end if that takes too many steps', () => {
    const $ref = '#';
    let left = 1_000;
    const examples = schemaExamples({ properties: { a: { $ref } }, additionalProperties: { $ref } }, () => {
      if (--left === 0) throw new RangeError();
    });
    assert.throws(() => [...examples], RangeError);
  });

  it('have each member that the schema names, one of its values, and texts like its patterns', () => {
    const schema = {
      properties: { plan: { enum: ['free', 'gold'] }, note: { pattern: '^x-y' }, on: { type: 'boolean' } },
      required: ['seats'],
      patternProperties: { '^k_\\d$': { type: 'number' } },
    };
    const [, example] = [...schemaExamples(schema, () => {})] as [unknown, Record<string, unknown>];
    assert.equal(example.plan, 'gold');
    assert.match(String(example.note), /^x-yx-y/);
    for (const name of ['plan', 'note', 'on', 'seats', 'k_']) assert.ok(Object.hasOwn(example, name), name);
  });
});
