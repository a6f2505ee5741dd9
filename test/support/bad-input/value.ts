// Characters of which unusual values consist, and lists as text.

/** U+0000 to U+001F and U+007F to U+009F: the general category Cc. */
export const controls: readonly string[] = [...range(0x00, 0x1f), ...range(0x7f, 0x9f)];

/** Unicode white space, without control characters. */
export const whiteSpace: readonly string[] = [
  ...'\u0020\u00a0\u1680',
  ...range(0x2000, 0x200a),
  ...'\u2028\u2029\u202f\u205f\u3000',
];

/** A code point of each length in UTF-8; the last also has two UTF-16 units. */
export const codePoints: readonly string[] = ['a', 'é', '中', '😀'];

/** Splits a list of texts without spaces. */
export function words(text: string): string[] {
  return text.split(' ');
}

/** Splits a list of texts without vertical bars. */
export function phrases(text: string): string[] {
  return text.split('|');
}

function range(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index));
}
