// Reads a JSON document that can be read in one way only, and keeps its parts as they came: numbers digit for
// digit, keys in their order, strings code point for code point. What RFC 8259 leaves to the reader is refused
// with a pointer to the place: duplicate keys, `__proto__`, lone surrogates, invalid UTF-8, a byte order mark,
// excessive depth.
//
// Why not a library: `JSON.parse` keeps the last of two equal keys, rounds numbers, moves integer keys to the
// front, and V8's gives a key with an escape the name of another one that it has met before (nodejs/node#63785);
// lossless-json accepts equal duplicates and lone surrogates and gives no pointer. `bench/README.md` has the
// figures. The scanner is held to `JSON.parse` by a fuzz test.

import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { type FieldError, Problem } from '../problem.ts';
import { excerpt } from './excerpt.ts';

declare const jsonTextBrand: unique symbol;
/** JSON without insignificant white space and escapes: one text for one value, safe to splice into an answer. */
export type JsonText = string & { readonly [jsonTextBrand]: true };

export interface JsonDocument {
  /**
   * The document as JavaScript sees it, for checks and short fields. A number with a fraction or an exponent may be
   * NaN: rounded, 1.00000000000000000001 would pass for an integer.
   */
  value: unknown;
  /** The exact text of each member, where the document is an object. */
  members: ReadonlyMap<string, JsonText>;
}

const INTEGER = /^-?\d+$/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 forbids just these inside a string.
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const INSIGNIFICANT = /"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g;

/**
 * Reads `bytes` as one JSON document with at most `maxDepth` levels of objects and arrays.
 * Throws `invalid_json`, with the pointer of the innermost place that is at fault.
 */
export function parseStrictJson(bytes: Buffer, maxDepth: number): JsonDocument {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw invalidJson('', 'must not begin with a byte order mark');
  }
  const source = bytes.toString('utf8');
  const invalidFrom = isUtf8(bytes) ? Number.POSITIVE_INFINITY : firstReplaced(bytes, source);
  return new Scanner(source, maxDepth, invalidFrom, checkableNumber).scan();
}

/** The exact text of each member of an object that was accepted before. */
export function membersOf(object: JsonText): ReadonlyMap<string, JsonText> {
  return scanAccepted(object).members;
}

function scanAccepted(text: JsonText): JsonDocument {
  return new Scanner(text, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, exactNumber).scan();
}

function invalidJson(pointer: string, detail: string): Problem {
  const errors: FieldError[] = [{ pointer, detail }];
  const place = pointer === '' ? 'The body' : `The body at ${pointer}`;
  return new Problem('invalid_json', `${place} ${detail}.`, { errors });
}

/** A number as it is written: 1.0 is not 1. */
class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function exactNumber(text: string): ExactNumber {
  return new ExactNumber(text);
}

function checkableNumber(text: string): number {
  const value = Number(text);
  return Number.isInteger(value) && !INTEGER.test(text) ? Number.NaN : value;
}

/** Where `source` first has a replacement character that does not stand in `bytes`. */
function firstReplaced(bytes: Buffer, source: string): number {
  let index = 0;
  let offset = 0;
  for (const character of source) {
    if (character === '\ufffd' && bytes.indexOf('\ufffd', offset) !== offset) break;
    index += character.length;
    offset += Buffer.byteLength(character);
  }
  return index;
}

/** JSON pointers are written as RFC 6901 says; long names are cut. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((step) => `/${excerpt(String(step)).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The path of a JSON pointer. */
export function pathOf(pointer: string): string[] {
  const [, ...steps] = pointer.split('/');
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

class Scanner {
  readonly #source: string;
  readonly #maxDepth: number;
  /** Where the first bytes stood that are not UTF-8; a string that reaches there is refused. */
  readonly #invalidFrom: number;
  readonly #numberOf: (text: string) => unknown;
  readonly #path: (string | number)[] = [];
  readonly #members = new Map<string, JsonText>();
  #position = 0;
  #depth = 0;
  /** How many escapes and runs of white space were met: a value during which it stays the same is compact. */
  #rewrites = 0;

  constructor(source: string, maxDepth: number, invalidFrom: number, numberOf: (text: string) => unknown) {
    this.#source = source;
    this.#maxDepth = maxDepth;
    this.#invalidFrom = invalidFrom;
    this.#numberOf = numberOf;
  }

  scan(): JsonDocument {
    this.#skipWhiteSpace();
    if (this.#position === this.#source.length) this.#fail('must not be empty');
    const value = this.#value();
    this.#skipWhiteSpace();
    if (this.#position < this.#source.length) this.#fail('must end after one JSON value');
    return { value, members: this.#members };
  }

  #value(): unknown {
    const start = this.#source.charCodeAt(this.#position);
    if (start === 0x7b) return this.#object();
    if (start === 0x5b) return this.#array();
    if (start === 0x22) return this.#string();
    if (start === 0x74) return this.#word('true', true);
    if (start === 0x66) return this.#word('false', false);
    if (start === 0x6e) return this.#word('null', null);
    return this.#number();
  }

  #object(): Record<string, unknown> {
    this.#enter();
    const object: Record<string, unknown> = {};
    if (!this.#endsWith(0x7d)) {
      do {
        this.#skipWhiteSpace();
        if (this.#source.charCodeAt(this.#position) !== 0x22) this.#fail('must have a key in double quotes');
        const key = this.#string();
        this.#path.push(key);
        if (key === '__proto__') this.#fail('must not be a key');
        if (Object.hasOwn(object, key)) this.#fail('must not stand twice');
        this.#skipWhiteSpace();
        if (this.#source.charCodeAt(this.#position) !== 0x3a) this.#fail('must be followed by a colon');
        this.#position++;
        this.#skipWhiteSpace();
        object[key] = this.#member(key);
        this.#path.pop();
        this.#skipWhiteSpace();
      } while (this.#continues());
      if (!this.#endsWith(0x7d)) this.#fail('must have a comma or a closing brace here');
    }
    this.#depth--;
    return object;
  }

  #member(key: string): unknown {
    const start = this.#position;
    const rewrites = this.#rewrites;
    const value = this.#value();
    if (this.#depth === 1) {
      const text = this.#source.slice(start, this.#position);
      this.#members.set(key, (this.#rewrites === rewrites ? text : compact(text)) as JsonText);
    }
    return value;
  }

  #array(): unknown[] {
    this.#enter();
    const array: unknown[] = [];
    if (!this.#endsWith(0x5d)) {
      do {
        this.#path.push(array.length);
        this.#skipWhiteSpace();
        array.push(this.#value());
        this.#path.pop();
        this.#skipWhiteSpace();
      } while (this.#continues());
      if (!this.#endsWith(0x5d)) this.#fail('must have a comma or a closing bracket here');
    }
    this.#depth--;
    return array;
  }

  #enter(): void {
    if (++this.#depth > this.#maxDepth)
      this.#fail(`must not be deeper than ${this.#maxDepth} levels, the outermost included`);
    this.#position++;
    this.#skipWhiteSpace();
  }

  #continues(): boolean {
    if (this.#source.charCodeAt(this.#position) !== 0x2c) return false;
    this.#position++;
    return true;
  }

  #endsWith(closing: number): boolean {
    if (this.#source.charCodeAt(this.#position) !== closing) return false;
    this.#position++;
    return true;
  }

  #string(): string {
    STRING.lastIndex = this.#position;
    if (!STRING.test(this.#source))
      this.#fail('must not have an unfinished string, a bad escape or a control character');
    const start = this.#position;
    this.#position = STRING.lastIndex;
    if (this.#position > this.#invalidFrom) this.#fail('must be UTF-8');
    const inner = this.#source.slice(start + 1, this.#position - 1);
    if (!inner.includes('\\')) return inner;
    this.#rewrites++;
    const decoded: string = JSON.parse(this.#source.slice(start, this.#position));
    if (!decoded.isWellFormed()) this.#fail('must not have a lone surrogate');
    return decoded;
  }

  #number(): unknown {
    const start = this.#position;
    NUMBER.lastIndex = start;
    if (!NUMBER.test(this.#source)) this.#fail('must have a value here');
    this.#position = NUMBER.lastIndex;
    return this.#numberOf(this.#source.slice(start, this.#position));
  }

  #word<Value>(word: string, value: Value): Value {
    if (!this.#source.startsWith(word, this.#position)) this.#fail('must have a value here');
    this.#position += word.length;
    return value;
  }

  #skipWhiteSpace(): void {
    const start = this.#position;
    for (;;) {
      const code = this.#source.charCodeAt(this.#position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
      this.#position++;
    }
    if (this.#position > start) this.#rewrites++;
  }

  #fail(detail: string): never {
    throw invalidJson(pointerOf(this.#path), `${detail} (character ${this.#position + 1})`);
  }
}

/** Valid JSON without its insignificant white space and with each string spelt in its shortest way. */
function compact(text: string): string {
  return text.replace(INSIGNIFICANT, (token) => {
    if (token[0] !== '"') return '';
    return token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;
  });
}

/**
 * Whether two texts hold the same value, whatever the order of their keys. Numbers are compared as they are
 * written: 1.0 is not 1.
 */
export function sameJson(a: JsonText | null, b: JsonText | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.length !== b.length) return false;
  return isDeepStrictEqual(scanAccepted(a).value, scanAccepted(b).value);
}
