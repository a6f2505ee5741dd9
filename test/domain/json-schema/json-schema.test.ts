// JSON Schema 2020-12. `npm run rig:json-schema` evaluates the cases of the public test suite.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { compileSchema } from '../../../src/domain/json-schema/compile.ts';
import { parseExactly } from '../../../src/domain/json-schema/exact-number.ts';
import { canonicalText } from '../../support/domain/canonical-text.ts';

interface SchemaCase {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

const file = new URL('../../support/domain/json-schema/cases.json', import.meta.url);
const cases = parseExactly(canonicalText(readFileSync(file, 'utf8'))) as SchemaCase[];

const compile = (schema: unknown, maxViolations = 20) =>
  compileSchema(schema, { maxViolations, step: () => {} });
const faultsOf = (schema: unknown, value: unknown) => compile(schema)(value);

describe('JSON Schema', () => {
  for (const { description, schema, tests } of cases)
    for (const test of tests)
      it(`${test.valid ? 'accepts' : 'rejects'} ${description}: ${test.description}`, () => {
        assert.equal(faultsOf(schema, test.data).length === 0, test.valid);
      });

  it('reports every fault with its place', () => {
    const schema = {
      properties: { a: { items: { type: 'string', maxLength: 1 } }, b: { minimum: 3 } },
      required: ['c'],
      additionalProperties: false,
    };
    assert.deepEqual(
      new Set(faultsOf(schema, { a: [1, 'long'], b: 2, 'd/e': 0 }).map(({ pointer }) => pointer)),
      new Set(['/a/0', '/a/1', '/b', '/c', '/d~1e']),
    );
  });

  it('reports nothing of the alternatives of anyOf, oneOf, not, if and contains', () => {
    const string = { type: 'string' };
    for (const keyword of ['anyOf', 'oneOf'])
      assert.equal(faultsOf({ [keyword]: [string, string] }, 1).length, 1, keyword);
    assert.equal(faultsOf({ contains: string }, [1, 2]).length, 1);
    assert.deepEqual(faultsOf({ if: string, else: true }, 1), []);
    assert.deepEqual(faultsOf({ not: string }, 1), []);
  });

  it('reports at most as many faults as asked for', () => {
    const check = compile({ items: { type: 'string' } }, 3);
    assert.equal(check([1, 2, 3, 4, 5]).length, 3);
  });

  it('compiles a pattern in linear time', () => {
    // In a class, this is not the start of a group with flags.
    const pattern = `[(?${'a'.repeat(60_000)}]`;
    const start = process.threadCpuUsage();
    assert.equal(faultsOf({ pattern }, 'b').length, 1);
    const { user } = process.threadCpuUsage(start);
    // In quadratic time, it takes several seconds.
    assert.ok(user / 1_000 < 1_000, `${user / 1_000} ms`);
  });

  it('is usable again after a value that is nested too deeply', () => {
    const check = compile({ properties: { a: { $ref: '#/properties/a' } }, required: ['b'] });
    assert.throws(() => check({ a: 1 }), RangeError);
    assert.deepEqual(check({ b: 1 }), []);
  });
});
