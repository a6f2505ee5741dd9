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

/** Matches every text with a number that is rounded, and some others. */
const CANDIDATE = /[\d.]{16}|\d[eE]/;

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
  if (text[0] === '"' || !isRounded(text)) return text;
  if (mode === 'text') return `"${text}"`;
  throw refused(
    path,
    'is a number beyond 2^53, or so close to an integer, that JavaScript rounds it to another one: store it as a text, or set settings.large_numbers',
  );
}

/**
 * Whether JavaScript reads the number as another one that is an integer, as ids are. A fraction that stays one,
 * such as 0.33333333333333333333, is not refused.
 */
export function isRounded(text: string): boolean {
  const value = Number(text);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return true;
  return Number.isInteger(value) && significantDigits(text) !== significantDigits(String(value));
}

/** The lookbehind keeps this linear: a number can have tens of thousands of zeros. */
function significantDigits(number: string): string {
  return number
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|(?<!0)0+$/g, '');
}
