// Generates text for property tests from given pieces, any code points, and what people write.

import fc from 'fast-check';
import { codePoint } from './code-point.ts';

export function textWith(pieces: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
    fc.string({ unit: codePoint, minLength: 1, maxLength: 40 }).filter((text) => text.isWellFormed()),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  );
}
