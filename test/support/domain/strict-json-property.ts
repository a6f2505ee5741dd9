// Properties of the strict parser on arbitrary documents, checked against `JSON.parse`.

import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import {
  type JsonDocument,
  parseStrictJson,
  parseStrictJsonInParts,
} from '../../../src/domain/json/strict-json.ts';
import { Problem } from '../../../src/problem.ts';
import { codePoint } from './code-point.ts';

const LEVELS = 5;

export function parse(source: string | Buffer) {
  return parseStrictJson(Buffer.from(source as string), LEVELS);
}

export function errorOf(source: string | Buffer): Problem | null {
  try {
    parse(source);
    return null;
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, 'invalid_json');
    assert.equal(error.errors.length, 1);
    return error;
  }
}

// ---- Documents: JSON in every form, including ambiguous keys and values.

const STRING = /"(?:[^"\\]|\\.)*"/g;

const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/);

/** Character of a string, plain or escaped; rarely a lone surrogate. */
const character = fc.oneof(
  {
    weight: 20,
    arbitrary: codePoint.map((each) => JSON.stringify(each).slice(1, -1)),
  },
  { weight: 5, arbitrary: codePoint.map(escaped) },
  { weight: 5, arbitrary: fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', ' ') },
  { weight: 1, arbitrary: fc.constantFrom('\\ud83d', '\\udE00', '\\uD83D\\uDe00') },
);
const string = fc.array(character, { maxLength: 6 }).map((characters) => `"${characters.join('')}"`);
/** Few keys, so that some are duplicates. */
const key = fc.oneof(
  { weight: 20, arbitrary: string },
  { weight: 5, arbitrary: fc.constantFrom('"a"', '"b"', '"1"', '"\\u0061"', '""', '"constructor"') },
  { weight: 1, arbitrary: fc.constantFrom('"__proto__"', '"\\u005f_proto__"') },
);

/**
 * Documents whose second keys differ in one character, which may be escaped: V8 confuses such a key with an
 * earlier one after the same first key (nodejs/node#63785).
 */
const similarKeys = fc
  .tuple(fc.nat(), fc.constantFrom('user_group_id', 'ab', 'a'), fc.nat())
  .chain(([first, word, index]) => {
    const at = index % word.length;
    const [before, after] = [word.slice(0, at), word.slice(at + 1)];
    const documents = character.map((each) => `{"k${first}":1,"${before}${each}${after}":2}`);
    return fc.array(documents, { minLength: 2, maxLength: 4 });
  });

const { value, object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')),
    list(tie('value'), '[', ']'),
    tie('object'),
  ),
  object: list(
    fc
      .tuple(key, space, space, tie('value'))
      .map(([name, before, after, item]) => `${name}${before}:${after}${item}`),
    '{',
    '}',
  ),
}));

const spaced = (inner: fc.Arbitrary<string>) => fc.tuple(space, inner, space).map((parts) => parts.join(''));
const document = spaced(value);
const objectDocument = spaced(object);

function list(item: fc.Arbitrary<string>, opening: string, closing: string): fc.Arbitrary<string> {
  return fc
    .tuple(space, fc.array(fc.tuple(space, item, space), { maxLength: 4 }))
    .map(([inner, items]) => `${opening}${inner}${items.map((parts) => parts.join('')).join(',')}${closing}`);
}

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}

/** Changes a few characters of the document; most changes make it invalid. */
function mutated(source: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edit = fc.tuple(
    fc.nat(),
    fc.nat({ max: 2 }),
    fc.stringMatching(/^[{}[\]":,\\/ub0e+.tfn\n\0 -]{0,2}$/),
  );
  return fc.tuple(source, fc.array(edit, { minLength: 1, maxLength: 2 })).map(([start, edits]) => {
    let text = start;
    for (const [at, removed, inserted] of edits) {
      const index = at % (text.length + 1);
      text = text.slice(0, index) + inserted + text.slice(index + removed);
    }
    return text;
  });
}

// ---- The expected results, from JSON.parse.

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * Parses with JSON.parse, but without escaped keys, which V8 confuses with earlier ones (nodejs/node#63785).
 */
export function parseByPlatform(source: string, reviver?: Reviver): unknown {
  const plain = source.replace(/"(?:[^"\\]|\\.)*"(\s*:)?/g, (token, colon?: string) =>
    colon === undefined ? token : `"${plainKey(JSON.parse(token.slice(0, -colon.length)))}"${colon}`,
  );
  return restoreKeys(JSON.parse(plain, reviver));
}

function plainKey(key: string): string {
  return `key ${Buffer.from(key, 'utf16le').toString('hex')}`;
}

function restoreKeys(item: unknown): unknown {
  if (Array.isArray(item)) return item.map(restoreKeys);
  if (item === null || typeof item !== 'object') return item;
  return Object.fromEntries(
    Object.entries(item).map(([key, each]) => [
      Buffer.from(key.slice('key '.length), 'hex').toString('utf16le'),
      restoreKeys(each),
    ]),
  );
}

function isUnambiguousJson(source: string): boolean {
  let parsed: unknown;
  try {
    parsed = parseByPlatform(source);
  } catch {
    return false;
  }
  // JSON.parse keeps one of two equal keys, so a document with a duplicate key has more keys than its value.
  const keysInSource = [...source.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon).length;
  return keysInSource === countKeys(parsed) && isUnambiguous(parsed, LEVELS);
}

function countKeys(item: unknown): number {
  if (item === null || typeof item !== 'object') return 0;
  const items = Object.values(item);
  return (Array.isArray(item) ? 0 : items.length) + items.reduce((sum, each) => sum + countKeys(each), 0);
}

function isUnambiguous(item: unknown, levels: number): boolean {
  if (typeof item === 'string') return item.isWellFormed();
  if (item === null || typeof item !== 'object') return true;
  return (
    levels > 0 &&
    Object.entries(item).every(
      ([name, each]) => name !== '__proto__' && name.isWellFormed() && isUnambiguous(each, levels - 1),
    )
  );
}

/** Returns strings as their values, and all other tokens as text. */
function tokensOf(source: string): string[] {
  const tokens = source.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  return tokens.map((token) => (token.startsWith('"') ? `string ${JSON.parse(token)}` : token));
}

// ---- The properties.

function parsedInParts(bytes: Buffer, part: number): JsonDocument {
  const parts = parseStrictJsonInParts(bytes, LEVELS, part);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

function outcomeOf(parseIt: () => JsonDocument): unknown {
  try {
    return parseIt();
  } catch (error) {
    return String(error);
  }
}

// JSON.parse returns an integer for 1.00000000000000000001 and for 1e0; neither may pass a check for integers.
const withoutRounding: Reviver = (_key, value, context) =>
  Number.isInteger(value) && /[.eE]/.test(context?.source ?? '') ? Number.NaN : value;

const garbage = fc.uint8Array({ minLength: 1, maxLength: 3 });
const damaged = fc.tuple(document, fc.nat(), garbage).map(([source, position, inserted]) => {
  const whole = Buffer.from(source);
  const at = position % (whole.length + 1);
  return Buffer.concat([whole.subarray(0, at), inserted, whole.subarray(at)]);
});

interface ParserProperty {
  property: fc.IProperty<unknown>;
  /** Default number of runs. */
  runs: number;
}

/** Properties that hold for every document. */
export const parserProperties: Readonly<Record<string, ParserProperty>> = {
  'parses a document in parts of any size like a whole one': {
    runs: 1_000,
    property: fc.property(fc.oneof(document, mutated(document)), fc.nat({ max: 12 }), (source, part) => {
      const bytes = Buffer.from(source);
      assert.deepEqual(
        outcomeOf(() => parsedInParts(bytes, part)),
        outcomeOf(() => parseStrictJson(bytes, LEVELS)),
      );
    }),
  },
  'accepts the documents that JSON.parse accepts, except ambiguous ones': {
    runs: 1_500,
    property: fc.property(fc.oneof(document, mutated(document)), (source) => {
      const wellFormed = source.toWellFormed();
      assert.equal(errorOf(wellFormed) === null, isUnambiguousJson(wellFormed));
    }),
  },
  'returns the value that JSON.parse returns, but integers only for integer literals': {
    runs: 500,
    property: fc.property(document, (source) => {
      fc.pre(isUnambiguousJson(source));
      assert.deepEqual(parse(source).value, parseByPlatform(source, withoutRounding));
    }),
  },
  'parses a key correctly, whatever was parsed before': {
    runs: 1_000,
    property: fc.property(similarKeys, (sources) => {
      for (const source of sources.filter(isUnambiguousJson)) {
        JSON.parse(source);
        assert.deepEqual(parse(source).value, parseByPlatform(source));
      }
    }),
  },
  'keeps the tokens of each member in order, without white space between them': {
    runs: 700,
    property: fc.property(objectDocument, (source) => {
      fc.pre(isUnambiguousJson(source));
      const { members } = parse(source);
      const kept = [...members].map(([key, member]) => `${JSON.stringify(key)}:${member}`);
      const compact = `{${kept.join(',')}}`;
      assert.deepEqual(tokensOf(compact), tokensOf(source));
      assert.doesNotMatch(compact.replaceAll(STRING, ''), /\s/);
    }),
  },
  'keeps an idempotent text of each member': {
    runs: 500,
    property: fc.property(objectDocument, (source) => {
      fc.pre(isUnambiguousJson(source));
      for (const [key, member] of parse(source).members) {
        assert.equal(parse(`{"k":${member}}`).members.get('k'), member, key);
      }
    }),
  },
  'returns a document or an error for any bytes': {
    runs: 1_000,
    property: fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 40 })), (source) => {
      const buffer = Buffer.from(source);
      const problem = errorOf(buffer);
      if (!isUtf8(buffer)) assert.ok(problem);
    }),
  },
};
