// Property schemas compare numbers exactly: checked against rational numbers of BigInt.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compileSchema } from '../../../src/domain/json-schema/compile.ts';
import { parseExactly } from '../../../src/domain/json-schema/exact-number.ts';
import { canonicalText } from '../../support/domain/canonical-text.ts';

/** `numerator` / 10^`places` */
interface Rational {
  numerator: bigint;
  places: bigint;
}

/** Decimal number as digits and exponent, to be written in the given form. */
interface Decimal {
  coefficient: bigint;
  exponent: number;
  form: 'scientific' | 'plain' | 'padded';
}

const MAX_EXPONENT = 330;
const form = fc.constantFrom<Decimal['form'][]>('scientific', 'plain', 'padded');
const coefficient = fc.oneof(
  fc.bigInt({ min: -1000n, max: 1000n }),
  fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n }),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
  // Close to the limits of integers and of digits that a JavaScript number represents.
  fc
    .tuple(fc.constantFrom(2n ** 53n, 10n ** 15n, 10n ** 16n), fc.bigInt({ min: -3n, max: 3n }))
    .map(([at, by]) => at + by),
);
const exponent = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.integer({ min: -MAX_EXPONENT, max: MAX_EXPONENT }),
);
const decimal: fc.Arbitrary<Decimal> = fc.record({ coefficient, exponent, form });

/** Pair of numbers that are often equal, or differ in the last digit. */
const pair: fc.Arbitrary<[Decimal, Decimal]> = fc.oneof(
  fc.tuple(decimal, decimal),
  fc
    .record({ decimal, zeros: fc.nat(20), by: fc.bigInt({ min: -1n, max: 1n }), form })
    .map((near): [Decimal, Decimal] => [
      near.decimal,
      {
        coefficient: near.decimal.coefficient * 10n ** BigInt(near.zeros) + near.by,
        exponent: near.decimal.exponent - near.zeros,
        form: near.form,
      },
    ]),
);

/** Number with a divisor that often divides it. */
const quotient: fc.Arbitrary<[Decimal, Decimal]> = fc
  .record({ pair, factor: coefficient, shift: fc.nat(40), isMultiple: fc.boolean() })
  .map(({ pair: [value, divisor], factor, shift, isMultiple }) => {
    const positive = {
      ...divisor,
      coefficient: divisor.coefficient < 0n ? -divisor.coefficient : divisor.coefficient || 1n,
    };
    if (!isMultiple) return [value, positive];
    return [
      { ...positive, coefficient: positive.coefficient * factor, exponent: positive.exponent + shift },
      positive,
    ];
  });

function textOf({ coefficient: digits, exponent: power, form: written }: Decimal): string {
  if (written === 'plain' && power < 0) return plainText(digits, -power);
  if (written === 'padded') return `${digits}.000e${power < 0 ? '' : '+0'}${power}`;
  return `${digits}E${power}`;
}

function plainText(digits: bigint, places: number): string {
  const padded = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
  return `${digits < 0n ? '-' : ''}${padded.slice(0, -places)}.${padded.slice(-places)}`;
}

function rationalOf({ coefficient: digits, exponent: power }: Decimal): Rational {
  return power < 0
    ? { numerator: digits, places: BigInt(-power) }
    : { numerator: digits * 10n ** BigInt(power), places: 0n };
}

/** Returns both numbers as integers in a common unit. */
function integersOf(a: Decimal, b: Decimal): [bigint, bigint] {
  const [left, right] = [rationalOf(a), rationalOf(b)];
  return [left.numerator * 10n ** right.places, right.numerator * 10n ** left.places];
}

/** Returns the messages about `value`. */
function detailsOf(schema: string, value: string): string[] {
  const check = compileSchema(parseExactly(canonicalText(schema)), { maxViolations: 1, step: () => {} });
  return check(parseExactly(canonicalText(value))).map(({ detail }) => detail);
}

function accepts(schema: string, value: string): boolean {
  return detailsOf(schema, value).length === 0;
}

function assertVerdict(schema: string, value: string, expected: boolean): void {
  assert.equal(accepts(schema, value), expected, `${schema} of ${value}`);
}

describe('A property schema', () => {
  it('compares a number with its limits exactly', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const [value, limit] = [textOf(a), textOf(b)];
        const [left, right] = integersOf(a, b);
        assertVerdict(`{"maximum":${limit}}`, value, left <= right);
        assertVerdict(`{"exclusiveMaximum":${limit}}`, value, left < right);
        assertVerdict(`{"minimum":${limit}}`, value, left >= right);
        assertVerdict(`{"exclusiveMinimum":${limit}}`, value, left > right);
      }),
      { numRuns: 1_000 },
    );
  });

  it('considers numbers equal exactly if their values are', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const [value, other] = [textOf(a), textOf(b)];
        const [left, right] = integersOf(a, b);
        assertVerdict(`{"const":${other}}`, value, left === right);
        assertVerdict(`{"enum":[null,{"a":${other}}]}`, `{"a":${value}}`, left === right);
        assertVerdict('{"uniqueItems":true}', `[${value},${other}]`, left !== right);
      }),
      { numRuns: 1_000 },
    );
  });

  it('recognizes integers exactly', () => {
    fc.assert(
      fc.property(decimal, (number) => {
        const { numerator, places } = rationalOf(number);
        assertVerdict('{"type":"integer"}', textOf(number), numerator % 10n ** places === 0n);
        assertVerdict('{"type":"number"}', textOf(number), true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('recognizes multiples exactly', () => {
    fc.assert(
      fc.property(quotient, ([a, b]) => {
        const [left, right] = integersOf(a, b);
        assertVerdict(`{"multipleOf":${textOf(b)}}`, textOf(a), left % right === 0n);
      }),
      { numRuns: 1_500 },
    );
  });

  it('recognizes multiples of prices exactly', () => {
    const cents = fc.tuple(fc.integer({ min: -(10 ** 14), max: 10 ** 14 }), fc.constantFrom(1, 5, 25, 125));
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 4 }), ([amount, unit], places) => {
        const [value, divisor] = [plainText(BigInt(amount), places), plainText(BigInt(unit), places)];
        assertVerdict(`{"multipleOf":${divisor}}`, value, amount % unit === 0);
      }),
      { numRuns: 1_500 },
    );
  });

  const huge = ['1e1000000000', '-1e-1000000000', `1e${'9'.repeat(60_000)}`, `1${'0'.repeat(30_000)}1`];
  for (const keyword of ['maximum', 'multipleOf', 'const', 'minLength', 'maxItems'])
    it(`costs no time for a huge ${keyword} or for huge numbers`, () => {
      const startedAt = process.cpuUsage();
      for (const limit of huge) {
        if (limit.startsWith('-') && keyword !== 'maximum' && keyword !== 'const') continue;
        for (const value of huge) accepts(`{"${keyword}":${limit}}`, `[${value}]`);
        for (const value of huge) accepts(`{"${keyword}":${limit}}`, value);
      }
      const { user, system } = process.cpuUsage(startedAt);
      assert.ok(user + system < 500_000, `${(user + system) / 1_000} ms`);
    });

  it('shows the digits of the schema in its messages', () => {
    const messageOf = (schema: string, value: string) => detailsOf(schema, value)[0];
    assert.equal(messageOf('{"maximum":9007199254740993}', '1e400'), 'must be <= 9007199254740993');
    assert.equal(messageOf('{"enum":["a",1.00e400]}', '1'), 'must be one of ["a",1.00e400]');
    assert.equal(messageOf('{"const":{"a":1.00e400}}', '1'), 'must be {"a":1.00e400}');
  });
});
