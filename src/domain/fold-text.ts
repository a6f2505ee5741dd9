// Comparison of texts in searches, where people type names as they hear them.

import { normalize } from './normalize.ts';

/**
 * Accents of letters, which the form NFKD separates from them. Marks of other scripts distinguish words, and U+034F divides
 * long runs of them.
 */
const ACCENTS = /[\u0300-\u034e\u0350-\u036f]/g;
/** Letters that Unicode does not separate into a letter and an accent. */
const PLAIN: Readonly<Record<string, string>> = { Æ: 'AE', Đ: 'D', Ł: 'L', Ø: 'O', Œ: 'OE' };
const UNSEPARATED = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');
const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * Returns the same text for texts that differ only in case, in every script: `toLowerCase` alone
 * distinguishes σ from ς and ß from SS, `toUpperCase` alone ẞ from SS. Also for texts with and without
 * accents, and with letters that only look different, such as full-width ones and ligatures.
 */
export function foldText(text: string): string {
  // A search reads thousands of texts, most of them of ASCII characters.
  if (!BEYOND_ASCII.test(text)) return text.toUpperCase();
  const letters = normalize(text, 'NFKD').replace(ACCENTS, '').toLowerCase().toUpperCase();
  return letters.replace(UNSEPARATED, (letter) => PLAIN[letter]!).normalize();
}
