// Validated JSON as a tree, built in one pass, so that merging and comparing take linear time at any depth. Nothing is
// decoded: every value and every key has exactly one text (see `JsonText`).

import type { JsonText } from './strict-json.ts';

/** A string, number, `true`, `false` or `null` is represented by its text. */
export type JsonTree = JsonText | JsonObject | JsonArray;

export class JsonObject {
  readonly text: JsonText;
  /** By key, including its quotes. */
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

export function treeOf(text: JsonText): JsonTree {
  return new Splitter(text).value();
}

export function textOf(tree: JsonTree): JsonText {
  return typeof tree === 'string' ? tree : tree.text;
}

/**
 * Whether two texts have the same value, regardless of the order of keys. Numbers are compared as text: 1.0 is not 1.
 */
export function sameJson(a: JsonText | null, b: JsonText | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.length !== b.length) return false;
  return sameTree(treeOf(a), treeOf(b));
}

function sameTree(a: JsonTree, b: JsonTree): boolean {
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

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const SCALAR = /"[^"\\]*(?:\\.[^"\\]*)*"|[^",:{}[\]]+/y;
const NO_MEMBERS: JsonObject['members'] = new Map();

/** Parses text that is known to be valid and without insignificant white space. */
class Splitter {
  readonly #text: JsonText;
  #position = 0;

  constructor(text: JsonText) {
    this.#text = text;
  }

  value(): JsonTree {
    const start = this.#text.charCodeAt(this.#position);
    if (start === 0x7b) return this.#object();
    if (start === 0x5b) return this.#array();
    return this.#take(SCALAR) as JsonText;
  }

  #object(): JsonObject {
    const start = this.#position++;
    if (this.#skip(0x7d)) return new JsonObject('{}' as JsonText, NO_MEMBERS);
    const members = new Map<string, JsonTree>();
    while (!this.#skip(0x7d)) {
      this.#skip(0x2c);
      const key = this.#take(STRING);
      this.#skip(0x3a);
      members.set(key, this.value());
    }
    return new JsonObject(this.#from(start), members);
  }

  #array(): JsonArray {
    const start = this.#position++;
    const elements: JsonTree[] = [];
    while (!this.#skip(0x5d)) {
      this.#skip(0x2c);
      elements.push(this.value());
    }
    return new JsonArray(this.#from(start), elements);
  }

  #skip(code: number): boolean {
    if (this.#text.charCodeAt(this.#position) !== code) return false;
    this.#position++;
    return true;
  }

  #take(pattern: RegExp): string {
    const start = this.#position;
    pattern.lastIndex = start;
    if (!pattern.test(this.#text)) throw new Error(`stored JSON is not valid at character ${start + 1}`);
    this.#position = pattern.lastIndex;
    return this.#from(start);
  }

  #from(start: number): JsonText {
    return this.#text.slice(start, this.#position) as JsonText;
  }
}
