// Keywords of JSON Schema 2020-12: the same verdicts as Ajv, the messages for violations, and the faults of a
// schema.

// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compileSchema } from '../../../src/domain/json-schema/compile.ts';
import { parseExactly } from '../../../src/domain/json-schema/exact-number.ts';
import { SchemaInvalid } from '../../../src/domain/json-schema/schema-invalid.ts';
import { canonicalText } from '../../support/domain/canonical-text.ts';

const string = { type: 'string' };
const integer = { type: 'integer' };
const hasA = { required: ['a'] };

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const SCHEMAS: unknown[] = [
  ...[true, false, {}, { $comment: 'a', title: 1, format: 'email' }],
  ...['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'].map((type) => ({ type })),
  ...[{ type: ['string', 'null'] }, { enum: [1, 'a', null, [1], { a: 1, b: [2] }] }, { enum: [] }],
  ...[{ const: 0 }, { const: { b: [2], a: 1 } }, { const: false }, { const: null }, { const: [1, 'a'] }],
  ...[{ multipleOf: 2 }, { multipleOf: 0.5 }, { maximum: 1 }, { exclusiveMaximum: 1 }, { minimum: 1 }],
  ...[
    { exclusiveMinimum: 1 },
    { maxLength: 1 },
    { minLength: 2 },
    { maxLength: 0 },
    { pattern: '^a' },
    { pattern: 'b$' },
  ],
  ...[{ maxItems: 1 }, { minItems: 2 }, { uniqueItems: true }, { uniqueItems: false }, { maxProperties: 1 }],
  ...[
    { minProperties: 2 },
    { required: ['a', 'b'] },
    { required: [] },
    { dependentRequired: { a: ['b', 'c'], d: [] } },
  ],
  ...[
    { allOf: [string, { minLength: 2 }] },
    { anyOf: [string, integer] },
    { oneOf: [{ minimum: 1 }, { maximum: 1 }] },
  ],
  ...[
    { not: string },
    { not: {} },
    { if: hasA, then: { required: ['b'] } },
    { if: hasA, else: { required: ['b'] } },
  ],
  ...[
    { if: string, then: { minLength: 2 }, else: integer },
    { then: false, else: false },
  ],
  ...[{ dependentSchemas: { a: { required: ['b'] }, c: false } }, { prefixItems: [integer, string] }],
  ...[
    { items: integer },
    { items: false },
    { prefixItems: [integer], items: string },
    { prefixItems: [integer], items: false },
  ],
  ...[
    { contains: integer },
    { contains: integer, minContains: 2 },
    { contains: integer, minContains: 0, maxContains: 1 },
  ],
  ...[
    { contains: integer, maxContains: 1 },
    { minContains: 2 },
    { maxContains: 0 },
    { propertyNames: { maxLength: 1 } },
  ],
  ...[
    { properties: { a: integer, b: string } },
    { properties: { a: false } },
    { patternProperties: { '^a': integer, b: string } },
  ],
  ...[{ additionalProperties: integer }, { additionalProperties: false, properties: { a: true } }],
  ...[{ additionalProperties: string, properties: { a: true }, patternProperties: { '^b': true } }],
  // Keywords that assert nothing, in a schema whose violations are not reported.
  ...[
    { not: { $defs: { a: false } } },
    { not: { uniqueItems: false } },
    { not: { if: true } },
    { not: { minContains: 2 } },
  ],
  ...[
    { not: { maxContains: 1 } },
    { not: { patternProperties: { '^a': integer } } },
    { $schema: DIALECT, type: 'string' },
  ],
  // Members and items that other keywords evaluated.
  ...[
    { unevaluatedProperties: false },
    { unevaluatedProperties: integer },
    { unevaluatedItems: false },
    { unevaluatedItems: string },
  ],
  { properties: { a: true }, unevaluatedProperties: false },
  { patternProperties: { '^a': true }, unevaluatedProperties: false },
  { additionalProperties: integer, unevaluatedProperties: false },
  { allOf: [{ properties: { a: integer } }], unevaluatedProperties: false },
  {
    anyOf: [{ properties: { a: integer } }, { properties: { b: string }, required: ['b'] }],
    unevaluatedProperties: false,
  },
  {
    oneOf: [
      { properties: { a: integer }, required: ['a'] },
      { properties: { c: true }, required: ['c'] },
    ],
    unevaluatedProperties: false,
  },
  { not: { properties: { a: string }, required: ['a'] }, unevaluatedProperties: false },
  { not: { not: { properties: { a: true } } }, unevaluatedProperties: false },
  {
    if: { properties: { a: { const: 1 } }, required: ['a'] },
    then: { properties: { b: true } },
    unevaluatedProperties: false,
  },
  { if: hasA, else: { properties: { b: true } }, unevaluatedProperties: false },
  { dependentSchemas: { a: { properties: { a: true, b: true } } }, unevaluatedProperties: false },
  { $ref: '#/$defs/a', $defs: { a: { properties: { a: true } } }, unevaluatedProperties: false },
  { properties: { a: { properties: { b: true } } }, unevaluatedProperties: { unevaluatedProperties: false } },
  { unevaluatedProperties: { type: 'array' }, allOf: [{ unevaluatedProperties: integer }] },
  { propertyNames: { unevaluatedProperties: false }, unevaluatedProperties: true },
  { prefixItems: [true], unevaluatedItems: false },
  { prefixItems: [integer], items: string, unevaluatedItems: false },
  { contains: { unevaluatedProperties: false }, unevaluatedItems: string },
  { anyOf: [{ prefixItems: [integer] }, { prefixItems: [true, string] }], unevaluatedItems: false },
  {
    allOf: [{ prefixItems: [string] }, true],
    anyOf: [{ prefixItems: [true, true] }, false],
    unevaluatedItems: integer,
  },
  { items: { unevaluatedProperties: false, properties: { a: true } } },
  // References.
  { properties: { a: { $ref: '#' } }, additionalProperties: integer },
  { $defs: { 'a/b~c': string }, additionalProperties: { $ref: '#/$defs/a~1b~0c' } },
  { $defs: { 'a b%': string }, additionalProperties: { $ref: '#/$defs/a%20b%25' } },
  { $defs: { a: { $anchor: 'x', type: 'string' } }, items: { $ref: '#x' } },
  { $defs: { a: { $anchor: 'x_1.y-', type: 'string' } }, items: { $ref: '#x_1.y-' } },
  { $defs: { a: { $dynamicAnchor: 'x', type: 'string' } }, items: { $ref: '#x' } },
  { allOf: [{ $ref: '#/allOf/1' }, string] },
  { $id: 'https://example.com/root', $ref: '#/$defs/a', $defs: { a: integer } },
  {
    $id: 'https://example.com/tree',
    $dynamicAnchor: 'node',
    properties: { a: { $dynamicRef: '#node' } },
    additionalProperties: { type: ['integer', 'string', 'array'] },
  },
  {
    $id: 'https://example.com/outer',
    $defs: { inner: { $id: 'inner', $anchor: 'here', type: 'string', $defs: { n: integer }, minLength: 2 } },
    items: { $ref: '#/$defs/inner' },
  },
];

const VALUES: unknown[] = [
  ...[null, true, false, 0, 1, 2, 3, -1, 1.5, 0.25, 1e20, '', 'a', 'b', 'ab', 'ba', '😀', '😀a', '1'],
  ...[
    [],
    [1],
    ['a'],
    [1, 'a'],
    ['a', 1],
    [1, 1],
    [0, false],
    ['a', 'b', 'c'],
    [1, 2, 3],
    [[1], [1]],
    [{ a: 1 }, { a: 1 }],
  ],
  ...[
    [1, 'a', 'b'],
    [{ a: 1, b: 1 }],
    [{ a: 1 }],
    ['ab'],
    [null, 'x'],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
  ],
  ...[
    {},
    { a: 1 },
    { b: 1 },
    { a: 1, b: 1 },
    { a: 1, b: 'x' },
    { a: 'x' },
    { b: 'x' },
    { c: 1 },
    { a: 1, c: 2 },
    { d: 1 },
  ],
  ...[
    { a: 1, b: [2] },
    { b: [2], a: 1 },
    { ab: 1 },
    { ab: 'x' },
    { a: { a: 1 } },
    { a: { b: 1 } },
    { a: { b: 'x' } },
  ],
  ...[
    { a: 2, b: 'x' },
    { a: 1, b: 'x', c: true },
    { a: { a: { a: 'x', b: true } } },
    { bb: 1, c: 'x' },
    { a: null },
    { x: [] },
  ],
];

describe('JSON Schema has the verdict of Ajv', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
  for (const schema of SCHEMAS) {
    it(`on ${JSON.stringify(schema)}`, () => {
      // Ajv does not compile the empty enum.
      const isValid =
        JSON.stringify(schema) === '{"enum":[]}' ? () => false : ajv.compile(schema as object | boolean);
      const faultsOf = compileSchema(schema, { maxViolations: 20, step: () => {} });
      // With a limit of one fault, evaluation stops early.
      const faultOf = compileSchema(schema, { maxViolations: 1, step: () => {} });
      for (const value of VALUES) {
        const expected = isValid(value);
        assert.equal(faultsOf(value).length === 0, expected, JSON.stringify(value));
        assert.equal(faultOf(value).length, expected ? 0 : 1, JSON.stringify(value));
      }
    });
  }
});

describe('A violation of a schema', () => {
  const details: [schema: object | boolean, value: unknown, ...faults: string[]][] = [
    [false, 1, ' is not allowed by the schema'],
    [{ type: ['string', 'null'] }, 1, ' must be string or null'],
    [{ enum: [1, 'a'] }, 2, ' must be one of [1,"a"]'],
    [{ const: { a: 1 } }, 2, ' must be {"a":1}'],
    [{ multipleOf: 2 }, 3, ' must be multiple of 2'],
    [{ maximum: 1, exclusiveMaximum: 2 }, 2, ' must be <= 1', ' must be < 2'],
    [{ minimum: 3, exclusiveMinimum: 2 }, 2, ' must be >= 3', ' must be > 2'],
    [
      { maxLength: 1, minLength: 3 },
      'ab',
      ' must have at most 1 characters',
      ' must have at least 3 characters',
    ],
    [{ pattern: '^b' }, 'a', ' must match pattern "^b"'],
    [{ maxItems: 1, minItems: 3 }, [1, 1], ' must have at most 1 items', ' must have at least 3 items'],
    [{ uniqueItems: true }, [1, 1], ' must not have two items that are equal'],
    [{ maxProperties: 1 }, { a: 1, b: 1 }, ' must have at most 1 properties'],
    [{ minProperties: 1 }, {}, ' must have at least 1 properties'],
    [{ required: ['a', 'b'] }, {}, '/a is required', '/b is required'],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, '/b is required'],
    [{ anyOf: [false] }, 1, ' must match a schema of anyOf'],
    [{ oneOf: [true, true] }, 1, ' must match exactly one schema of oneOf'],
    [{ not: true }, 1, ' must not match the schema of not'],
    [{ items: false }, [1], '/0 is not an item of the schema'],
    [{ contains: false }, [], ' must contain at least 1 items of the schema of contains'],
    [{ contains: true, maxContains: 1 }, [1, 1], ' must contain at most 1 items of the schema of contains'],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, '/ab has a name that the schema does not allow'],
    [{ additionalProperties: false }, { a: 1 }, '/a is not a property of the schema'],
    [{ unevaluatedProperties: false }, { a: 1 }, '/a is not a property of the schema'],
    [{ unevaluatedItems: false }, [1], '/0 is not an item of the schema'],
    [{ prefixItems: [true], items: { properties: { a: string } } }, [1, { a: 1 }], '/1/a must be string'],
    [{ allOf: [string, { minimum: 5 }] }, 1, ' must be string', ' must be >= 5'],
  ];
  for (const [schema, value, ...faults] of details) {
    it(`in ${JSON.stringify(value)} by ${JSON.stringify(schema)}:${faults.join(',')}`, () => {
      const found = compileSchema(schema, { maxViolations: 20, step: () => {} })(value);
      assert.deepEqual(
        found.map(({ pointer, detail }) => `${pointer} ${detail}`),
        faults,
      );
    });
  }

  it('is one of at most 20', () => {
    const check = compileSchema({ additionalProperties: string }, { step: () => {} });
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`a${index}`, index]));
    assert.equal(check(properties).length, 20);
  });
});

describe('A schema cannot be used', () => {
  const invalid: [schema: unknown, pointer: string, message: RegExp][] = [
    [1, '', /must be an object or a boolean/],
    [{ properties: { a: null } }, '/properties/a', /must be an object or a boolean/],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, '/$schema', /must be "https:.*2020-12/],
    [{ $id: 1 }, '/$id', /must be a string/],
    [{ $anchor: '1a' }, '/$anchor', /must be a name/],
    [{ $anchor: 'a b' }, '/$anchor', /must be a name/],
    [{ $anchor: 1 }, '/$anchor', /must be a name/],
    [{ $dynamicAnchor: '' }, '/$dynamicAnchor', /must be a name/],
    [{ $anchor: 'a', $defs: { b: { $anchor: 'a' } } }, '/$defs/b/$anchor', /must be unique: a/],
    [{ $ref: 1 }, '/$ref', /must be a string/],
    [{ $ref: 'https://example.com/' }, '/$ref', /must refer to a place in this schema/],
    [{ $ref: '#a' }, '/$ref', /anchor that does not exist: a/],
    [{ $ref: '#/$defs/a' }, '/$ref', /place that does not exist: #\/\$defs\/a/],
    [{ $ref: '#/$comment/a', $comment: null }, '/$ref', /place that does not exist/],
    [{ $ref: '#/toString' }, '/$ref', /place that does not exist/],
    [{ $ref: '#/title/0', title: 'ab' }, '/$ref', /place that does not exist/],
    [{ $ref: '#/%' }, '/$ref', /must be a valid URI reference/],
    [{ $dynamicRef: '#a' }, '/$dynamicRef', /anchor that does not exist/],
    [{ $defs: [] }, '/$defs', /must be an object/],
    [{ type: 'text' }, '/type', /must be one of null, boolean/],
    [{ type: [] }, '/type', /must be one of/],
    [{ type: ['string', 'text'] }, '/type', /must be one of/],
    [{ enum: 1 }, '/enum', /must be an array/],
    [{ multipleOf: 0 }, '/multipleOf', /must be greater than 0/],
    [{ multipleOf: '1' }, '/multipleOf', /must be a number/],
    [{ maximum: null }, '/maximum', /must be a number/],
    ...[
      'maxLength',
      'minLength',
      'maxItems',
      'minItems',
      'maxProperties',
      'minProperties',
      'minContains',
      'maxContains',
    ].flatMap((keyword): [unknown, string, RegExp][] =>
      [-1, 1.5, '1'].map((value) => [{ [keyword]: value }, `/${keyword}`, /must be a whole number from 0/]),
    ),
    [{ contains: true, minContains: -1 }, '/minContains', /must be a whole number/],
    [{ contains: true, maxContains: 'a' }, '/maxContains', /must be a whole number/],
    [{ pattern: 1 }, '/pattern', /must be a string/],
    [{ pattern: '(' }, '/pattern', /must be a regular expression/],
    [{ pattern: '(?=a)' }, '/pattern', /RE2 lacks/],
    [{ patternProperties: { '(': true } }, '/patternProperties/(', /must be a regular expression/],
    [{ patternProperties: { a: 1 } }, '/patternProperties/a', /must be an object or a boolean/],
    [{ uniqueItems: 1 }, '/uniqueItems', /must be true or false/],
    [{ required: 'a' }, '/required', /must be an array of strings/],
    [{ required: [1] }, '/required', /must be an array of strings/],
    [{ dependentRequired: { a: 'b' } }, '/dependentRequired/a', /must be an array of strings/],
    [{ dependentSchemas: { a: 1 } }, '/dependentSchemas/a', /must be an object or a boolean/],
    ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].flatMap((keyword): [unknown, string, RegExp][] => [
      [{ [keyword]: [] }, `/${keyword}`, /must not be empty/],
      [{ [keyword]: {} }, `/${keyword}`, /must be an array/],
      [{ [keyword]: [true, 1] }, `/${keyword}/1`, /must be an object or a boolean/],
    ]),
    ...[
      'not',
      'if',
      'items',
      'contains',
      'propertyNames',
      'additionalProperties',
      'unevaluatedItems',
      'unevaluatedProperties',
    ].map((keyword): [unknown, string, RegExp] => [
      { [keyword]: 1 },
      `/${keyword}`,
      /must be an object or a boolean/,
    ]),
    [{ if: true, then: 1 }, '/then', /must be an object or a boolean/],
    [{ if: true, else: 1 }, '/else', /must be an object or a boolean/],
    [{ $defs: { a: { items: { type: 1 } } } }, '/$defs/a/items/type', /must be one of/],
  ];
  for (const [schema, pointer, message] of invalid) {
    it(`${JSON.stringify(schema)} at ${pointer}`, () => {
      assert.throws(
        () => compileSchema(schema, { maxViolations: 1, step: () => {} }),
        (error) => error instanceof SchemaInvalid && error.pointer === pointer && message.test(error.message),
      );
    });
  }
});

describe('A dynamic reference', () => {
  const isValid = (schema: unknown, value: unknown) =>
    compileSchema(schema, { maxViolations: 20, step: () => {} })(value).length === 0;
  const tree = {
    $id: 'tree',
    $dynamicAnchor: 'node',
    properties: { data: true, children: { items: { $dynamicRef: '#node' } } },
  };
  const strict = { $id: 'https://example.com/strict', $dynamicAnchor: 'node', unevaluatedProperties: false };
  const misspelt = { children: [{ children: [{ daat: 1 }] }] };

  it('leads to the outermost schema that has the anchor, as in the specification', () => {
    const schema = { ...strict, $ref: '#/$defs/tree', $defs: { tree } };
    assert.equal(isValid(schema, { children: [{ children: [{ data: 1 }] }] }), true);
    assert.equal(isValid(schema, misspelt), false);
    assert.equal(isValid(tree, misspelt), true);
  });

  it('is static if its own resource has no such dynamic anchor, and an ordinary reference always is', () => {
    const { $dynamicAnchor: $anchor, ...rest } = tree;
    const inner = { ...rest, $anchor };
    assert.equal(isValid({ ...strict, $ref: '#/$defs/tree', $defs: { tree: inner } }, misspelt), true);
    const lenient = { ...tree, properties: { data: true, children: { items: { $ref: '#node' } } } };
    assert.equal(isValid({ ...strict, $ref: '#/$defs/tree', $defs: { tree: lenient } }, misspelt), true);
  });

  it('does not lead to a schema that has been left', () => {
    const node = (type: string) => ({ $dynamicAnchor: 'node', type });
    const schema = {
      $defs: {
        numbers: {
          $id: 'numbers',
          $defs: { node: node('integer') },
          prefixItems: [{ $dynamicRef: '#node' }],
        },
        texts: { $id: 'texts', $defs: { node: node('string') }, contains: { $dynamicRef: '#node' } },
      },
      allOf: [{ $ref: '#/$defs/numbers' }, { $ref: '#/$defs/texts' }],
    };
    assert.equal(isValid(schema, [1, 'a']), true);
    assert.equal(isValid(schema, [1, 2]), false);
    assert.equal(isValid(schema, ['a']), false);
  });

  it('is relative to the innermost schema with an id, as every reference', () => {
    const inner = { $id: 'inner', $defs: { n: string }, extra: { $ref: '#/$defs/n' } };
    const schema = { $defs: { n: integer, inner }, items: { $ref: '#/$defs/inner/extra' } };
    assert.equal(isValid(schema, ['a']), true);
    assert.equal(isValid(schema, [1]), false);
  });
});

describe('A schema that is compiled and checked', () => {
  it('can be stopped at every step', () => {
    const schema = { items: { anyOf: [string, { properties: { a: integer } }] }, $defs: { a: {}, b: {} } };
    const value = [1, 'a', { a: 1 }, { a: 'x' }];
    let steps = 0;
    const run = (limit: number) => {
      steps = 0;
      const step = () => {
        if (++steps > limit) throw new Error('stopped');
      };
      compileSchema(schema, { maxViolations: 20, step })(value);
    };
    run(Infinity);
    const all = steps;
    assert.ok(all > 15, String(all));
    for (let limit = 0; limit < all; limit++) assert.throws(() => run(limit), /stopped/);
  });

  it('takes the items that contains has found as evaluated, unlike Ajv', () => {
    const check = compileSchema(
      { contains: string, unevaluatedItems: integer },
      { maxViolations: 9, step: () => {} },
    );
    assert.deepEqual(check([1, 'a', 2, 'b']), []);
    assert.deepEqual(
      check([1, 'a', null]).map(({ pointer }) => pointer),
      ['/2'],
    );
  });

  it('compares long numbers exactly', () => {
    const exactly = (text: string) => parseExactly(canonicalText(text));
    const check = compileSchema(exactly('{"enum":[12345678901234567890,{"a":0}]}'), {
      maxViolations: 1,
      step: () => {},
    });
    for (const [text, isValid] of [
      ['12345678901234567890', true],
      ['12345678901234567890.0', true],
      ['12345678901234567891', false],
      ['{"a":-0}', true],
      ['{"a":0.0}', true],
    ] as const)
      assert.equal(check(exactly(text)).length === 0, isValid, text);
    const types = compileSchema({ type: ['integer', 'object'] }, { maxViolations: 1, step: () => {} });
    assert.equal(types(exactly('12345678901234567890')).length, 0);
    assert.equal(types(exactly('1234567890123456789.5')).length, 1);
  });
});
