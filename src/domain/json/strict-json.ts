// Parses unambiguous JSON and preserves it exactly: the digits of numbers, the order of keys, the code points of strings.
// JSON that parsers interpret differently is rejected with a pointer: duplicate keys, `__proto__`, lone surrogates,
// invalid UTF-8, a byte order mark, excessive depth or number of values.
//
// Why not a library: `JSON.parse` keeps the last of duplicate keys, rounds numbers, moves integer keys to the front, and
// V8's confuses a key that has an escape with an earlier one (nodejs/node#63785); lossless-json accepts equal duplicates
// and lone surrogates and returns no pointer. `bench/README.md` has the figures. A fuzz test compares the scanner with
// `JSON.parse`.

import { isUtf8 } from 'node:buffer';
import { Problem, type Violation } from '../../problem.ts';
import { truncate } from '../truncate.ts';

declare const jsonTextBrand: unique symbol;
/** JSON without insignificant white space or unnecessary escapes: each value has one text. Safe to insert into JSON. */
export type JsonText = string & { readonly [jsonTextBrand]: true };

export interface JsonDocument<Value = unknown> {
  /**
   * The document as a JavaScript value, for validation and short fields. A number with a fraction or an exponent may be
   * NaN: rounded, 1.00000000000000000001 would pass as an integer.
   */
  value: Value;
  /** The exact text of each member if the document is an object. */
  members: ReadonlyMap<string, JsonText>;
}

const INTEGER = /^-?\d+$/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
export const ONLY_NUMBER = new RegExp(`^${NUMBER.source}$`);
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 forbids exactly these in a string.
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
/**
 * Maximum number of members of all objects, and of elements of all arrays: more than a document can have
 * within the limits of its fields, such as 64 KiB of properties, where a member takes at least 5 bytes and an
 * element 2. Parsing the members that fit into 256 KiB would take 20 to 50 ms.
 */
export const MAX_MEMBERS = 14_000;
export const MAX_ELEMENTS = 34_000;

const INSIGNIFICANT = /"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g;

/**
 * Parses `bytes` as one JSON document with at most `maxDepth` levels of objects and arrays.
 * Throws `invalid_json` with a pointer to the innermost invalid value.
 */
export function parseStrictJson(bytes: Buffer, maxDepth: number, maxMembers = MAX_MEMBERS): JsonDocument {
  return newScanner(bytes, maxDepth, maxMembers).scan(bytes.length)!;
}

/** Does the same; yields after each part of about `part` characters. */
export function* parseStrictJsonInParts(
  bytes: Buffer,
  maxDepth: number,
  part: number,
): Generator<void, JsonDocument> {
  const scanner = newScanner(bytes, maxDepth, MAX_MEMBERS);
  for (;;) {
    const document = scanner.scan(part);
    if (document !== null) return document;
    yield;
  }
}

function newScanner(bytes: Buffer, maxDepth: number, maxMembers: number): Scanner {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw invalidJson('', 'must not start with a byte order mark');
  }
  const source = bytes.toString('utf8');
  const invalidFrom = isUtf8(bytes) ? Number.POSITIVE_INFINITY : firstReplaced(bytes, source);
  return new Scanner(source, maxDepth, maxMembers, invalidFrom);
}

function invalidJson(pointer: string, detail: string): Problem {
  const errors: Violation[] = [{ pointer, detail }];
  const place = pointer === '' ? 'The body' : `The body at ${pointer}`;
  return new Problem('invalid_json', `${place} ${detail}.`, { errors });
}

function checkableNumber(text: string): number {
  const value = Number(text);
  return Number.isInteger(value) && !INTEGER.test(text) ? Number.NaN : value;
}

/** The index in `source` of the first replacement character that is not in `bytes`. */
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

/** The JSON pointer (RFC 6901) of a path; long names are truncated. */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path
    .map((step) => `/${truncate(String(step)).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/** The path of a JSON pointer. */
export function parsePointer(pointer: string): string[] {
  const [, ...steps] = pointer.split('/');
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Stands for the value of an array or object that has been opened and whose first element or member is next. */
const OPENED = Symbol('opened');

/** Keeps the open arrays and objects on a stack of its own, so that it can stop after any value. */
class Scanner {
  readonly #source: string;
  readonly #maxDepth: number;
  readonly #maxMembers: number;
  /** The index of the first bytes that are not UTF-8; a string that reaches it is rejected. */
  readonly #invalidFrom: number;
  /** Open arrays and objects, from the outermost to the innermost. */
  readonly #open: (unknown[] | Record<string, unknown>)[] = [];
  /** The index or the key of the next value in each of them. */
  readonly #path: (string | number)[] = [];
  readonly #members = new Map<string, JsonText>();
  #position = 0;
  #memberCount = 0;
  #elementCount = 0;
  /** Escapes and runs of white space so far: a value that does not increase it is compact. */
  #rewrites = 0;
  /** Start of the member of the outermost object that is being read, and `#rewrites` there. */
  #memberStart = 0;
  #memberRewrites = 0;

  constructor(source: string, maxDepth: number, maxMembers: number, invalidFrom: number) {
    this.#source = source;
    this.#maxDepth = maxDepth;
    this.#maxMembers = maxMembers;
    this.#invalidFrom = invalidFrom;
  }

  /** Reads about `characters` more. Returns the document if it has ended by then. */
  scan(characters: number): JsonDocument | null {
    const end = this.#position + characters;
    if (this.#position === 0) this.#start();
    while (this.#position <= end) {
      const value = this.#value();
      if (value === OPENED) continue;
      const outermost = this.#close(value);
      if (outermost !== OPENED) return this.#end(outermost);
    }
    return null;
  }

  #start(): void {
    this.#skipWhiteSpace();
    if (this.#position === this.#source.length) this.#fail('must not be empty');
  }

  #end(value: unknown): JsonDocument {
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

  #object(): unknown {
    this.#enter();
    if (this.#endsWith(0x7d)) return {};
    const object: Record<string, unknown> = {};
    this.#open.push(object);
    this.#key(object);
    return OPENED;
  }

  #array(): unknown {
    this.#enter();
    if (this.#endsWith(0x5d)) return [];
    this.#open.push([]);
    this.#index(0);
    return OPENED;
  }

  /**
   * Adds a value to the innermost array or object, and closes those that end behind it. Returns the outermost value if
   * that was the last one, and otherwise OPENED.
   */
  #close(last: unknown): unknown {
    let value = last;
    for (;;) {
      const container = this.#open[this.#open.length - 1];
      if (container === undefined) return value;
      if (Array.isArray(container)) {
        container.push(value);
        this.#path.pop();
        this.#skipWhiteSpace();
        if (this.#continues()) {
          this.#index(container.length);
          return OPENED;
        }
        if (!this.#endsWith(0x5d)) this.#fail('must have a comma or a closing bracket here');
      } else {
        this.#add(container, value);
        this.#skipWhiteSpace();
        if (this.#continues()) {
          this.#key(container);
          return OPENED;
        }
        if (!this.#endsWith(0x7d)) this.#fail('must have a comma or a closing brace here');
      }
      this.#open.pop();
      value = container;
    }
  }

  #index(index: number): void {
    this.#path.push(index);
    if (++this.#elementCount > MAX_ELEMENTS) this.#fail(`is one of more than ${MAX_ELEMENTS} elements`);
    this.#skipWhiteSpace();
  }

  #key(object: Record<string, unknown>): void {
    this.#skipWhiteSpace();
    if (this.#source.charCodeAt(this.#position) !== 0x22) this.#fail('must have a key in double quotes');
    const key = this.#string();
    this.#path.push(key);
    if (++this.#memberCount > this.#maxMembers) this.#fail(`is one of more than ${this.#maxMembers} members`);
    if (key === '__proto__') this.#fail('must not be a key');
    if (Object.hasOwn(object, key)) this.#fail('is a duplicate key');
    this.#skipWhiteSpace();
    if (this.#source.charCodeAt(this.#position) !== 0x3a) this.#fail('must be followed by a colon');
    this.#position++;
    this.#skipWhiteSpace();
    if (this.#open.length > 1) return;
    this.#memberStart = this.#position;
    this.#memberRewrites = this.#rewrites;
  }

  #add(object: Record<string, unknown>, value: unknown): void {
    const key = this.#path.pop() as string;
    object[key] = value;
    if (this.#open.length > 1) return;
    const text = this.#source.slice(this.#memberStart, this.#position);
    this.#members.set(key, (this.#rewrites === this.#memberRewrites ? text : compact(text)) as JsonText);
  }

  #enter(): void {
    if (this.#open.length === this.#maxDepth)
      this.#fail(`must not be deeper than ${this.#maxDepth} levels, including the outermost`);
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
      this.#fail('must not have an unterminated string, an invalid escape or a control character');
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
    return checkableNumber(this.#source.slice(start, this.#position));
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
    throw invalidJson(jsonPointer(this.#path), `${detail} (character ${this.#position + 1})`);
  }
}

/** Removes insignificant white space from valid JSON and writes each string in its shortest form. */
function compact(text: string): string {
  return text.replace(INSIGNIFICANT, (token) => {
    if (token[0] !== '"') return '';
    return token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;
  });
}
