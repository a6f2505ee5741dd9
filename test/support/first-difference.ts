// Finds the first difference between two values, in a few lines, for the report of a failed assertion.

import { inspect, isDeepStrictEqual } from 'node:util';
import { redact } from '../../src/domain/secret.ts';

interface Difference {
  /** Path, such as `json.errors[0].pointer`; empty for the values themselves. */
  path: string;
  expected: string;
  actual: string;
}

type Key = string | number;

const MAX_SHOWN = 200;
/** Characters shown before the first one that differs. */
const CONTEXT = 40;
const ABSENT = Symbol('absent');

/** Returns null if the values differ only in something that cannot be shown, such as their prototypes. */
export function firstDifference(actual: unknown, expected: unknown): Difference | null {
  return differenceAt([], actual, expected);
}

function differenceAt(path: readonly Key[], actual: unknown, expected: unknown): Difference | null {
  if (isDeepStrictEqual(actual, expected)) return null;
  const pairs = pairsOf(actual, expected);
  if (pairs === null) return leaf(path, actual, expected);
  for (const [key, actualMember, expectedMember] of pairs) {
    const difference = differenceAt([...path, key], actualMember, expectedMember);
    if (difference) return difference;
  }
  return null;
}

/**
 * Returns the members of both values in pairs; null if the values are of different kinds or have no members.
 */
function pairsOf(actual: unknown, expected: unknown): Iterable<[Key, unknown, unknown]> | null {
  if (Array.isArray(actual) && Array.isArray(expected)) return pairsOfArrays(actual, expected);
  if (isPlain(actual) && isPlain(expected)) return pairsOfObjects(actual, expected);
  if (actual instanceof Map && expected instanceof Map)
    return pairsOfObjects(Object.fromEntries(actual), Object.fromEntries(expected));
  if (actual instanceof Set && expected instanceof Set) return pairsOfSets(actual, expected);
  return null;
}

function* pairsOfArrays(actual: unknown[], expected: unknown[]): Generator<[Key, unknown, unknown]> {
  for (let index = 0; index < Math.max(actual.length, expected.length); index++)
    yield [
      index,
      index < actual.length ? actual[index] : ABSENT,
      index < expected.length ? expected[index] : ABSENT,
    ];
}

type Members = Record<string, unknown>;

function* pairsOfObjects(actual: Members, expected: Members): Generator<[Key, unknown, unknown]> {
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)]))
    yield [
      key,
      Object.hasOwn(actual, key) ? actual[key] : ABSENT,
      Object.hasOwn(expected, key) ? expected[key] : ABSENT,
    ];
}

/** Returns the elements that only one of the sets has, because sets have no order. */
function pairsOfSets(actual: Set<unknown>, expected: Set<unknown>): [Key, unknown, unknown][] {
  const lacks = (set: Set<unknown>) => (member: unknown) =>
    ![...set].some((other) => isDeepStrictEqual(other, member));
  const [surplus = ABSENT] = [...actual].filter(lacks(expected));
  const [missing = ABSENT] = [...expected].filter(lacks(actual));
  return [['(member)', surplus, missing]];
}

function isPlain(value: unknown): value is Members {
  return (
    typeof value === 'object' &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value))
  );
}

function leaf(path: readonly Key[], actual: unknown, expected: unknown): Difference {
  // Redacts before it cuts, because a part of a token is not recognized.
  const texts = [actual, expected].map((value) => redact(textOf(value))) as [string, string];
  const from = Math.max(0, firstDifferentIndex(...texts) - CONTEXT);
  const [shownActual, shownExpected] = texts.map((text) => cut(text, from)) as [string, string];
  const isHidden = texts[0] === texts[1];
  return {
    path: pathText(path),
    expected: isHidden ? `${shownExpected} (the difference is redacted)` : shownExpected,
    actual: shownActual,
  };
}

function textOf(value: unknown): string {
  if (value === ABSENT) return 'nothing';
  return inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY, maxStringLength: null });
}

function firstDifferentIndex(one: string, other: string): number {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index++;
  return index;
}

function cut(text: string, from: number): string {
  const end = from + MAX_SHOWN;
  return `${from > 0 ? '…' : ''}${text.slice(from, end)}${text.length > end ? '…' : ''}`;
}

function pathText(path: readonly Key[]): string {
  return path
    .map((key) =>
      typeof key === 'number'
        ? `[${key}]`
        : /^[\w$]+$|^\(/.test(key)
          ? `.${key}`
          : `[${JSON.stringify(key)}]`,
    )
    .join('')
    .replace(/^\./, '');
}
