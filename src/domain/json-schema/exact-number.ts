// Numbers of JSON, compared and divided exactly. Almost all have at most 15 significant digits: each of these
// has a JavaScript number of its own. The others keep their digits and their exponent. Exponents are never
// expanded: 1e1000000000 costs as much as 1. A library would expand them in a division, and would need its
// own type even for numbers that need none.

import { parseJson, parseTree, treeValue } from '../json/json-tree.ts';
import { type JsonText, ONLY_NUMBER } from '../json/strict-json.ts';

/** A number of 16 digits or more, or with a large exponent. */
const LONG_NUMBER = /(?:^|[[,:])\s*-?(?:[\d.]{16}|[\d.]+[eE][+-]?\d{3})/;
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Integers below it have at most 15 digits. */
const MAX_SHORT = 1e15;
const MAX_SHORT_DIGITS = 15;
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;
/** Far from the limits of JavaScript numbers, 1.8e308 and 2.2e-308. */
const MAX_SHORT_MAGNITUDE = 300n;
/** Powers of ten up to this one are exact in JavaScript. */
const MAX_EXACT_POWER = 22n;

export type JsonNumber = number | ExactNumber;

/** A number that no JavaScript number represents: `digits` × 10^`exponent`. */
export class ExactNumber {
  /** The digits as written. */
  readonly text: string;
  readonly isNegative: boolean;
  /** Digits without zeros at either end; empty for zero. */
  readonly digits: string;
  readonly exponent: bigint;
  #coefficient: bigint | null = null;

  constructor(text: string) {
    const [, sign, whole, fraction = '', exponent = '0'] = PARTS.exec(text)!;
    const all = whole + fraction;
    const [start, end] = significant(all);
    this.text = text;
    this.isNegative = sign === '-';
    this.digits = all.slice(start, end);
    this.exponent = BigInt(exponent) + BigInt(all.length - end - fraction.length);
  }

  get isInteger(): boolean {
    return this.exponent >= 0n;
  }

  /** Equal numbers have the same text. */
  get canonicalText(): string {
    return `${this.isNegative ? '-' : ''}${this.digits}e${this.exponent}`;
  }

  /** Whether a JavaScript number represents this one and no other with 15 digits. */
  get isShort(): boolean {
    const { digits, magnitude } = this;
    if (digits === '') return true;
    if (digits.length > MAX_SHORT_DIGITS) return false;
    return magnitude < MAX_SHORT_MAGNITUDE && magnitude > -MAX_SHORT_MAGNITUDE;
  }

  /** The number is 0.`digits` × 10^`magnitude`. */
  get magnitude(): bigint {
    return this.exponent + BigInt(this.digits.length);
  }

  get coefficient(): bigint {
    this.#coefficient ??= BigInt(this.digits);
    return this.#coefficient;
  }

  /** Negative, zero or positive, as for sorting. */
  compare(other: ExactNumber): number {
    if (this.#sign !== other.#sign) return this.#sign - other.#sign;
    return this.#sign * this.#compareSize(other);
  }

  isMultipleOf(divisor: ExactNumber): boolean {
    if (this.digits === '') return true;
    const shift = this.exponent - divisor.exponent;
    // The last digit is not zero, so no integer times a larger power of ten is this number.
    if (shift < 0n) return false;
    // Beyond this power, more factors 2 and 5 divide no more of the divisor.
    const enough = BigInt(divisor.digits.length * 4);
    const shifted = this.coefficient * 10n ** (shift < enough ? shift : enough);
    return shifted % divisor.coefficient === 0n;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): unknown {
    // Missing from the types of ECMAScript 2024; Node has it.
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.text);
  }

  get #sign(): number {
    if (this.digits === '') return 0;
    return this.isNegative ? -1 : 1;
  }

  #compareSize({ digits, magnitude }: ExactNumber): number {
    if (this.magnitude !== magnitude) return this.magnitude < magnitude ? -1 : 1;
    if (this.digits === digits) return 0;
    return this.digits < digits ? -1 : 1;
  }
}

/** Parses numbers that are not short as `ExactNumber`, so that each number has one representation. */
export function parseExactly(text: JsonText): unknown {
  if (!mayHaveLongNumber(text) || !LONG_NUMBER.test(text)) return parseJson(text);
  return treeValue(parseTree(text), (scalar) =>
    ONLY_NUMBER.test(scalar) && LONG_NUMBER.test(scalar) ? parseNumber(scalar) : JSON.parse(scalar),
  );
}

export function isNumber(value: unknown): value is JsonNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

/** Negative, zero or positive, as for sorting. */
export function compareNumbers(a: JsonNumber, b: JsonNumber): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : exact(a).compare(exact(b));
}

/** Whether a number is a multiple of `divisor`, which is greater than zero. */
export function multipleTest(divisor: JsonNumber): (value: JsonNumber) => boolean {
  const exactDivisor = exact(divisor);
  const isMultiple = (value: JsonNumber) => exact(value).isMultipleOf(exactDivisor);
  const { exponent, magnitude } = exactDivisor;
  if (typeof divisor !== 'number' || exponent < -MAX_EXACT_POWER || magnitude > MAX_SHORT_DIGITS)
    return isMultiple;
  const scale = exponent < 0n ? 10 ** Number(-exponent) : 1;
  const units = Math.round(divisor * scale);
  return (value) => {
    if (typeof value !== 'number') return isMultiple(value);
    const scaled = Math.round(value * scale);
    // Exact: two numbers of at most 15 digits differ if and only if their JavaScript numbers do.
    if (scaled < MAX_SHORT && scaled > -MAX_SHORT)
      return scaled / scale === value && Number.isInteger(scaled / units);
    return isMultiple(value);
  };
}

/** Takes a few per cent of the time of parsing; `LONG_NUMBER` alone would take a third. */
function mayHaveLongNumber(text: string): boolean {
  // A run of 16 characters covers one of these places.
  for (let place = 0; place < text.length; place += MAX_SHORT_DIGITS + 1)
    if (digitsAround(text, place) > MAX_SHORT_DIGITS) return true;
  return LARGE_EXPONENT.test(text);
}

/** Length of the run of digits and points around a place. */
function digitsAround(text: string, place: number): number {
  let [start, end] = [place, place];
  while (isDigitOrPoint(text.charCodeAt(end))) end++;
  if (end > place) while (isDigitOrPoint(text.charCodeAt(start - 1))) start--;
  return end - start;
}

function isDigitOrPoint(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

function parseNumber(text: string): JsonNumber {
  const number = new ExactNumber(text);
  return number.isShort ? Number(text) : number;
}

function exact(number: JsonNumber): ExactNumber {
  return typeof number === 'number' ? new ExactNumber(String(number)) : number;
}

/** Indexes of the first digit that is not zero, and after the last one. A regular expression takes quadratic time. */
function significant(digits: string): [start: number, end: number] {
  let [start, end] = [0, digits.length];
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return [start, end];
}
