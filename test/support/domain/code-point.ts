// Generates text for property tests.

import fc from 'fast-check';

const SURROGATES_START = 0xd800;
const SURROGATES = 0x800;
const CODE_POINTS = 0x110000 - SURROGATES;

/**
 * Generates any code point except surrogates. fast-check's unit `binary` does the same, but each process
 * builds a map of 1.1 million entries for it.
 */
export const codePoint = fc
  .nat({ max: CODE_POINTS - 1 })
  .map((index) => String.fromCodePoint(index < SURROGATES_START ? index : index + SURROGATES), indexOf);

/** Lets fast-check add strings such as `__proto__`. Throws if the value is not one of the code points. */
function indexOf(value: unknown): number {
  const point = typeof value === 'string' ? value.codePointAt(0) : undefined;
  if (point === undefined || String.fromCodePoint(point) !== value) throw new TypeError('not a code point');
  return point < SURROGATES_START ? point : point - SURROGATES;
}
