// Numbers that JavaScript and other readers of JSON round: the id 9007199254740993 becomes another tenant's.

import {
  decodeString,
  JsonArray,
  JsonObject,
  type JsonTree,
  joinMembers,
  parseTree,
  treeText,
} from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import { type LargeNumbers, refused, type ValuePath } from './embed-token-type.ts';

/** Matches every text with a number beyond 2^53, and some others. */
const CANDIDATE = /\d{16}|\d[eE]/;

/** Converts or refuses the large numbers of a value, as the mode says. Throws `claim_invalid`. */
export function withLargeNumbers(value: JsonText, mode: LargeNumbers, path: ValuePath): JsonText {
  if (mode === 'number' || !CANDIDATE.test(value)) return value;
  return converted(parseTree(value), mode, path) as JsonText;
}

function converted(tree: JsonTree, mode: 'refuse' | 'text', path: ValuePath): string {
  if (tree instanceof JsonArray)
    return `[${tree.elements.map((each, index) => converted(each, mode, [...path, index])).join()}]`;
  if (tree instanceof JsonObject) {
    const members = Array.from(tree.members, ([key, each]) => {
      return `${key}:${converted(each, mode, [...path, decodeString(key)])}`;
    });
    return joinMembers(members);
  }
  const text = treeText(tree);
  if (text[0] === '"' || !(Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER)) return text;
  if (mode === 'text') return `"${text}"`;
  throw refused(
    path,
    'is a number beyond 2^53, which JavaScript rounds to another one: store it as a text, or set settings.large_numbers',
  );
}
