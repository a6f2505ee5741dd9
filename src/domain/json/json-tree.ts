// Validated JSON as a tree, built in one pass, so that merging and comparing take linear time at any depth. Nothing is
// decoded: every value and every key has exactly one text (see `JsonText`).

import type { JsonText } from './strict-json.ts';

/** A string, number, `true`, `false` or `null` is represented by its text. */
export type JsonTree = JsonText | JsonObject | JsonArray;

export class JsonObject {
  readonly text: JsonText;
  /** Keyed by member name, including its quotes. */
  readonly members: ReadonlyMap<string, JsonTree>;

  constructor(text: JsonText, members: ReadonlyMap<string, JsonTree>) {
    this.text = text;
    this.members = members;
  }
}

export class JsonArray {
  readonly text: JsonText;
  readonly elements: readonly JsonTree[];

  constructor(text: JsonText, elements: readonly JsonTree[]) {
    this.text = text;
    this.elements = elements;
  }
}

export function parseTree(text: JsonText): JsonTree {
  return new Splitter(text).value();
}

/** Returns the texts of members by quoted key, in a third of the time of parsing their values too. */
export function splitMembers(object: JsonText): ReadonlyMap<string, JsonText> {
  return new Splitter(object).members();
}

/** Does the same; returns none for another value. */
export function memberTexts(value: JsonText | null | undefined): ReadonlyMap<string, JsonText> {
  return value?.startsWith('{') ? splitMembers(value) : NO_TEXTS;
}

/** Returns the members by decoded name. */
export function namedMembers(object: JsonText): (readonly [name: string, value: JsonText])[] {
  return Array.from(splitMembers(object), ([key, value]) => [decodeString(key), value]);
}

/**
 * Parses as `JSON.parse` does, but stores each member under its own key: V8 confuses a key that has an escape
 * with one of an earlier object, which may be of another tenant (nodejs/node#63785).
 */
export function parseJson<Value>(text: JsonText): Value {
  return text.includes('\\') ? (treeValue(parseTree(text), JSON.parse) as Value) : JSON.parse(text);
}

/** `scalarValue` returns the value of a text that is neither an object nor an array. */
export function treeValue(tree: JsonTree, scalarValue: (text: JsonText) => unknown): unknown {
  if (tree instanceof JsonArray) return tree.elements.map((element) => treeValue(element, scalarValue));
  if (!(tree instanceof JsonObject)) return scalarValue(tree);
  return Object.fromEntries(
    Array.from(tree.members, ([key, member]) => [decodeString(key), treeValue(member, scalarValue)]),
  );
}

/** Decodes the text of a string, such as a key. */
export function decodeString(text: string): string {
  return JSON.parse(text);
}

export const NULL = 'null' as JsonText;
export const EMPTY_OBJECT = '{}' as JsonText;

export function jsonText(value: string | number | boolean | object | null): JsonText {
  return JSON.stringify(value) as JsonText;
}

/** Writes an object of texts; members that are undefined are left out. */
export function objectText(
  members: Iterable<readonly [name: string, value: JsonText | undefined]>,
): JsonText {
  let text = '';
  for (const [name, value] of members) {
    if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${value}`;
  }
  return `{${text}}` as JsonText;
}

/** Returns the members of an object of texts for `objectText`; null becomes the JSON null. */
export function textMembers(texts: Readonly<Record<string, JsonText | null>>): [name: string, JsonText][] {
  return Object.entries(texts).map(([name, text]) => [name, text ?? NULL]);
}

/** Writes an object of members such as `"plan":"gold"`. */
export function joinMembers(members: readonly string[]): JsonText {
  return `{${members.join(',')}}` as JsonText;
}

/** Returns the object with one more member at its end. */
export function withMember(object: JsonText, name: string, value: JsonText): JsonText {
  const separator = object === '{}' ? '' : ',';
  return `${object.slice(0, -1)}${separator}${JSON.stringify(name)}:${value}}` as JsonText;
}

export function treeText(tree: JsonTree): JsonText {
  return typeof tree === 'string' ? tree : tree.text;
}

/**
 * Whether two texts have the same value, regardless of the order of keys. Numbers are compared as text: 1.0 is not 1.
 */
export function sameJson(a: JsonText | null, b: JsonText | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.length !== b.length) return false;
  return sameTree(parseTree(a), parseTree(b));
}

/** The same for trees. */
export function sameTree(a: JsonTree, b: JsonTree): boolean {
  if (a instanceof JsonObject) return b instanceof JsonObject && sameMembers(a.members, b.members);
  if (a instanceof JsonArray) return b instanceof JsonArray && sameElements(a.elements, b.elements);
  return a === b;
}

function sameMembers(a: JsonObject['members'], b: JsonObject['members']): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) {
    const other = b.get(key);
    if (other === undefined || !sameTree(value, other)) return false;
  }
  return true;
}

function sameElements(a: JsonArray['elements'], b: JsonArray['elements']): boolean {
  return a.length === b.length && a.every((element, index) => sameTree(element, b[index]!));
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const NO_MEMBERS: JsonObject['members'] = new Map();
const NO_TEXTS: ReadonlyMap<string, JsonText> = new Map();

/** Parses text that is known to be valid and without insignificant white space. */
class Splitter {
  readonly #text: JsonText;
  #position = 0;

  constructor(text: JsonText) {
    this.#text = text;
  }

  value(): JsonTree {
    switch (this.#text.charCodeAt(this.#position)) {
      case BRACE:
        return this.#object();
      case BRACKET:
        return this.#array();
      case QUOTE:
        return this.#string();
      default:
        return this.#take(this.#endOfLiteral());
    }
  }

  members(): Map<string, JsonText> {
    const members = new Map<string, JsonText>();
    this.#position++;
    while (!this.#skip(CLOSING_BRACE)) {
      this.#skip(COMMA);
      const key = this.#string();
      this.#skip(COLON);
      const start = this.#position;
      this.#skipValue();
      members.set(key, this.#from(start));
    }
    return members;
  }

  #skipValue(): void {
    let depth = 0;
    do {
      switch (this.#text.charCodeAt(this.#position)) {
        case QUOTE:
          this.#position = this.#endOfString();
          break;
        case BRACE:
        case BRACKET:
          depth++;
          this.#position++;
          break;
        case CLOSING_BRACE:
        case CLOSING_BRACKET:
          depth--;
          this.#position++;
          break;
        case COMMA:
        case COLON:
          this.#position++;
          break;
        default:
          this.#position = this.#endOfLiteral();
      }
    } while (depth > 0);
  }

  #object(): JsonObject {
    const start = this.#position++;
    if (this.#skip(CLOSING_BRACE)) return new JsonObject(EMPTY_OBJECT, NO_MEMBERS);
    const members = new Map<string, JsonTree>();
    while (!this.#skip(CLOSING_BRACE)) {
      this.#skip(COMMA);
      const key = this.#string();
      this.#skip(COLON);
      members.set(key, this.value());
    }
    return new JsonObject(this.#from(start), members);
  }

  #array(): JsonArray {
    const start = this.#position++;
    const elements: JsonTree[] = [];
    while (!this.#skip(CLOSING_BRACKET)) {
      this.#skip(COMMA);
      elements.push(this.value());
    }
    return new JsonArray(this.#from(start), elements);
  }

  #skip(code: number): boolean {
    if (this.#text.charCodeAt(this.#position) !== code) return false;
    this.#position++;
    return true;
  }

  #string(): JsonText {
    return this.#take(this.#endOfString());
  }

  #endOfString(): number {
    const text = this.#text;
    // Fast for long strings. A quote after a backslash may be escaped.
    let end = text.indexOf('"', this.#position + 1);
    if (end > 0 && text.charCodeAt(end - 1) !== BACKSLASH) return end + 1;
    for (end = this.#position + 1; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (code === QUOTE) return end + 1;
      if (code === BACKSLASH) end++;
    }
    throw this.#invalid();
  }

  /** A literal is a number, `true`, `false` or `null`. */
  #endOfLiteral(): number {
    const text = this.#text;
    let end = this.#position;
    while (end < text.length && !isDelimiter(text.charCodeAt(end))) end++;
    if (end === this.#position) throw this.#invalid();
    return end;
  }

  #take(end: number): JsonText {
    const start = this.#position;
    this.#position = end;
    return this.#from(start);
  }

  #from(start: number): JsonText {
    return this.#text.slice(start, this.#position) as JsonText;
  }

  #invalid(): Error {
    return new Error(`stored JSON is not valid at character ${this.#position + 1}`);
  }
}

function isDelimiter(code: number): boolean {
  return code === COMMA || code === CLOSING_BRACE || code === CLOSING_BRACKET;
}
