// JSON Schema -> fast-check: the values that a schema allows, and values that violate it in one place. It supports the
// keywords that our requests use and rejects all others, so that no part of the description remains untested.

import fc from 'fast-check';
import type { Schema } from '../../src/http/schema.ts';
import { codePoint } from '../../test/support/domain/code-point.ts';
import { Digits, type Json, jsonText } from './json.ts';

const KEYWORDS = [
  'enum',
  ...['type', 'minLength', 'maxLength', 'pattern', 'not', 'minimum', 'maximum', 'properties', 'required'],
  ...['propertyNames', 'additionalProperties', 'maxProperties', 'x-max-bytes', 'x-max-levels'],
];
/** Keywords that are ignored. */
const ANNOTATIONS = ['description', 'default', 'x-pattern-detail', 'format'];

const FEW_CHARACTERS = 12;
const FEW_ENTRIES = 4;
/** Maximum length if a schema has none. */
const MANY_CHARACTERS = 300;

/** Values by field name that no schema can describe, such as an existing token. */
export type Given = Readonly<Record<string, fc.Arbitrary<Json>>>;

export interface Violation {
  /** JSON pointer and the violated keyword. */
  breaks: string;
  value: Json;
}

type Entries = Readonly<Record<string, Json>>;

/** Generates values that the schema allows. Throws if it has an unsupported keyword or type. */
export function valuesOf(schema: Schema, given: Given = {}): fc.Arbitrary<Json> {
  return fc.oneof(...alternatives(schema).map(([type, each]) => generators[type].values(each, given)));
}

/** Generates values that violate the schema in one place. Throws like `valuesOf`. */
export function violationsOf(schema: Schema, given: Given = {}): fc.Arbitrary<Violation> {
  const each = alternatives(schema);
  const types: string[] = each.map(([type]) => type);
  const others = Object.entries(samples).filter(([type]) => !types.includes(type));
  return fc.oneof(
    breaking('type', fc.constantFrom(...others.map(([, value]) => value))),
    ...each.flatMap(([type, schemaOfType]) => generators[type].violations(schemaOfType, given)),
  );
}

const samples: Record<string, Json> = {
  string: 'a',
  integer: 7,
  number: 1.5,
  boolean: true,
  null: null,
  array: [],
  object: {},
};

type Type = 'string' | 'integer' | 'boolean' | 'null' | 'object';

interface Generator {
  values(schema: Schema, given: Given): fc.Arbitrary<Json>;
  /** One arbitrary for each kind of violation. */
  violations(schema: Schema, given: Given): fc.Arbitrary<Violation>[];
}

const generators: Record<Type, Generator> = {
  null: { values: () => fc.constant(null), violations: () => [] },
  boolean: { values: () => fc.boolean(), violations: () => [] },
  string: { values: texts, violations: badTexts },
  integer: { values: integers, violations: badIntegers },
  object: { values: objects, violations: badObjects },
};

/** Returns the schema of each type that a value may have. */
function alternatives(schema: Schema): [type: Type, schema: Schema][] {
  const { oneOf, description: _, ...rest } = schema;
  if (oneOf === undefined) return typesOf(schema).map((type) => [type, schema]);
  return oneOf.flatMap((each) => alternatives({ ...rest, ...each }));
}

function typesOf(schema: Schema): Type[] {
  const unknown = Object.keys(schema).filter((key) => ![...KEYWORDS, ...ANNOTATIONS].includes(key));
  if (unknown.length > 0) throw new Error(`cannot generate values for the keywords ${unknown}`);
  const types = [schema.type].flat() as string[];
  if (!types.every((type) => type in generators))
    throw new Error(`cannot generate values of the type ${types}`);
  return types as Type[];
}

function breaking(breaks: string, values: fc.Arbitrary<Json>): fc.Arbitrary<Violation> {
  return values.map((value) => ({ breaks, value }));
}

// ---- Texts. Lengths count code points.

const odd = [
  ...[
    '"',
    '\\',
    '/',
    '%',
    "'",
    ';',
    '_',
    '~',
    '*',
    '#',
    '?',
    '&',
    '+',
    '.',
    '<',
    '\u{1f642}',
    'é',
    'e\u0301',
  ],
  ...['\u200b', '\u200d', '\u2060', '\u202e', '\ufffd', '\uffff', '\ue000', '\u{10ffff}'],
];
const blank = [' ', '\u00a0', '\u2028', '\u3000', '\ufeff'];
const control = ['\u0000', '\t', '\n', '\r', '\u001b', '\u007f', '\u0085', '\u009f'];

const character = fc.oneof(
  { weight: 10, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }) },
  { weight: 4, arbitrary: codePoint },
  { weight: 4, arbitrary: fc.constantFrom(...odd, ...blank) },
);
const invalidCharacter = fc.oneof(fc.constantFrom('a', ...blank, ...control), codePoint);

function patternOf({ pattern = '', not }: Schema): (text: string) => boolean {
  const expression = new RegExp(pattern, 'u');
  // `(?!)` matches nothing.
  const excluded = new RegExp(not?.pattern ?? '(?!)', 'u');
  return (text) => expression.test(text) && !excluded.test(text);
}

function texts(schema: Schema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = MANY_CHARACTERS, enum: choices } = schema;
  if (choices !== undefined) return fc.constantFrom(...(choices as string[]));
  if (schema.format === 'date-time') return instants;
  const few = fc.string({ unit: character, minLength, maxLength: Math.min(maxLength, FEW_CHARACTERS) });
  const most = repeated(character, maxLength);
  return fc
    .oneof({ weight: 9, arbitrary: few }, { weight: 1, arbitrary: most })
    .filter((text) => patternOf(schema)(text) && [...text].length <= maxLength);
}

const instants = fc
  .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const notInstants = ['', 'yesterday', '2026-13-01T00:00:00Z', '2026-03-05', '1741190652'];

function badTexts(schema: Schema): fc.Arbitrary<Violation>[] {
  const { minLength = 0, maxLength, pattern, not, enum: choices } = schema;
  if (choices !== undefined) return [breaking('enum', fc.constantFrom('', ...odd, `${choices[0]} `))];
  if (schema.format === 'date-time') return [breaking('format', fc.constantFrom(...notInstants))];
  const matches = patternOf(schema);
  const violations: fc.Arbitrary<Violation>[] = [];
  if (minLength > 0) violations.push(breaking('minLength', fc.constant('')));
  if (maxLength !== undefined)
    violations.push(breaking('maxLength', repeated(character, maxLength + 1).filter(matches)));
  if (pattern !== undefined || not !== undefined) {
    const bad = fc.string({
      unit: invalidCharacter,
      minLength,
      maxLength: Math.min(maxLength ?? FEW_CHARACTERS, FEW_CHARACTERS),
    });
    violations.push(
      breaking(
        'pattern',
        bad.filter((text) => !matches(text)),
      ),
    );
  }
  return violations;
}

function repeated(unit: fc.Arbitrary<string>, times: number): fc.Arbitrary<string> {
  return unit.filter((each) => [...each].length === 1).map((each) => each.repeat(times));
}

// ---- Integers.

function integers({ minimum, maximum }: Schema): fc.Arbitrary<number> {
  return fc.integer({ min: minimum ?? Number.MIN_SAFE_INTEGER, max: maximum ?? Number.MAX_SAFE_INTEGER });
}

function badIntegers({ minimum, maximum }: Schema): fc.Arbitrary<Violation>[] {
  const violations: fc.Arbitrary<Violation>[] = [];
  if (minimum !== undefined) violations.push(breaking('minimum', beyond(BigInt(minimum), -1n)));
  if (maximum !== undefined) violations.push(breaking('maximum', beyond(BigInt(maximum), 1n)));
  return violations;
}

/**
 * Returns digits instead of numbers, because JavaScript cannot represent every integer beyond the safe range.
 */
function beyond(limit: bigint, direction: bigint): fc.Arbitrary<Digits> {
  return fc.bigInt({ min: 1n, max: 1n << 70n }).map((by) => new Digits(String(limit + direction * by)));
}

// ---- Objects: either with named fields, or with uniform entries.

function objects(schema: Schema, given: Given): fc.Arbitrary<Entries> {
  return schema.properties === undefined ? entries(schema) : fields(schema, given);
}

function badObjects(schema: Schema, given: Given): fc.Arbitrary<Violation>[] {
  return schema.properties === undefined ? badEntries(schema) : badFields(schema, given);
}

function fields({ properties = {}, required = [] }: Schema, given: Given): fc.Arbitrary<Entries> {
  const values = Object.entries(properties).map(([name, schema]) => [name, given[name] ?? valuesOf(schema)]);
  return fc.record(Object.fromEntries(values), { requiredKeys: [...required] });
}

function badFields(schema: Schema, given: Given): fc.Arbitrary<Violation>[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (additionalProperties !== false)
    throw new Error('cannot generate values of an object with additional fields');
  const good = fields(schema, given);
  const unknown = fc.string({ unit: character, maxLength: FEW_CHARACTERS });
  return [
    ...required.map((name) =>
      breaking(
        `/${name} required`,
        good.map(({ [name]: _, ...rest }) => rest),
      ),
    ),
    withEntry(
      good,
      'additionalProperties',
      unknown.filter((name) => !(name in properties)),
      freeJson,
    ),
    ...Object.entries(properties).map(([name, each]) =>
      fc.tuple(good, violationsOf(each)).map(([object, { breaks, value }]) => ({
        breaks: `/${name} ${breaks}`,
        value: { ...object, [name]: value },
      })),
    ),
  ];
}

function entries(schema: Schema): fc.Arbitrary<Entries> {
  const { maxProperties = FEW_ENTRIES } = schema;
  const [key, value] = [keysOf(schema), entryOf(schema)];
  const few = fc.dictionary(key, value, { maxKeys: Math.min(maxProperties, FEW_ENTRIES) });
  const most = value.map((each) => manyEntries(maxProperties, each));
  const { 'x-max-levels': levels, 'x-max-bytes': bytes } = schema;
  return fc.oneof(
    { weight: 20, arbitrary: few },
    { weight: 1, arbitrary: most.filter((object) => bytesOf(object) <= (bytes ?? Number.POSITIVE_INFINITY)) },
    ...(levels === undefined ? [] : [{ weight: 1, arbitrary: fc.constant(nested(levels)) }]),
    ...(bytes === undefined ? [] : [{ weight: 1, arbitrary: fc.constant(large(bytes)) }]),
  );
}

function badEntries(schema: Schema): fc.Arbitrary<Violation>[] {
  const { maxProperties, propertyNames, additionalProperties } = schema;
  const { 'x-max-levels': levels, 'x-max-bytes': bytes } = schema;
  const good = entries({ ...schema, maxProperties: FEW_ENTRIES });
  const violations: fc.Arbitrary<Violation>[] = [];
  if (maxProperties !== undefined) {
    const many = entryOf(schema).map((value) => manyEntries(maxProperties + 1, value));
    violations.push(breaking('maxProperties', many));
  }
  for (const bad of propertyNames === undefined ? [] : badTexts(propertyNames)) {
    const key = bad.map(({ value }) => value as string);
    violations.push(withEntry(good, 'propertyNames', key, entryOf(schema)));
  }
  if (typeof additionalProperties === 'object') {
    const value = violationsOf(additionalProperties).map((violation) => violation.value);
    violations.push(withEntry(good, 'additionalProperties', keysOf(schema), value));
  }
  if (levels !== undefined) violations.push(breaking('x-max-levels', fc.constant(nested(levels + 1))));
  if (bytes !== undefined) violations.push(breaking('x-max-bytes', fc.constant(large(bytes + 1))));
  return violations;
}

function withEntry(
  objects: fc.Arbitrary<Entries>,
  breaks: string,
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<Json>,
): fc.Arbitrary<Violation> {
  return fc
    .tuple(objects, keys, values)
    .map(([object, key, value]) => ({ breaks, value: { ...object, [key]: value } }));
}

/** Key that no schema excludes but the description does: ambiguous JSON is rejected. */
const ambiguousKey = '__proto__';

function keysOf({ propertyNames }: Schema): fc.Arbitrary<string> {
  const keys = propertyNames === undefined ? fc.string({ unit: character }) : texts(propertyNames);
  return keys.filter((key) => key !== ambiguousKey);
}

function entryOf({ additionalProperties }: Schema): fc.Arbitrary<Json> {
  return typeof additionalProperties === 'object' ? valuesOf(additionalProperties) : freeJson;
}

function manyEntries(count: number, value: Json): Entries {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
}

function bytesOf(value: Json): number {
  return Buffer.byteLength(jsonText(value));
}

/** An object with the given number of levels. */
function nested(levels: number): Entries {
  return levels === 1 ? {} : { a: nested(levels - 1) };
}

/** An object of the given size. */
function large(bytes: number): Entries {
  return { a: 'x'.repeat(bytes - '{"a":""}'.length) };
}

// ---- Any JSON.

const number = fc
  .stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/)
  .map((digits) => new Digits(digits));

const { json: freeJson } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    number,
    fc.string({ unit: fc.oneof(character, fc.constantFrom(...control)), maxLength: FEW_CHARACTERS }),
    fc.array(tie('json'), { maxLength: FEW_ENTRIES }),
    fc.dictionary(keysOf({}), tie('json'), { maxKeys: FEW_ENTRIES }),
  ),
}));
