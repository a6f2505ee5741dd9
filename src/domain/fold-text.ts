// Comparison of texts in searches, where people type names as they hear them.

import { normalize } from './normalize.ts';

/**
 * Accents of letters, which the form NFKD separates from them, and the points of Hebrew and Arabic, which most texts omit.
 * Marks of other scripts distinguish words, and U+034F divides long runs of them.
 */
const ACCENTS =
  /[\u0300-\u034e\u0350-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670]/g;
/** Characters that mails and chats insert, and that join or direct others or choose their form. */
const INVISIBLE = /[\p{Cf}\p{Variation_Selector}]+/gu;
/** Letters that Unicode does not separate into a letter and an accent, and signs that keyboards and mails replace. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{ Æ: 'AE', Đ: 'D', Ł: 'L', Ø: 'O', Œ: 'OE' },
  ...{ '‘': "'", '’': "'", ʼ: "'", '׳': "'", '“': '"', '”': '"', '„': '"', '״': '"' },
  ...{ '‐': '-', '–': '-', '—': '-', '−': '-' },
};
const UNSEPARATED = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');
const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * Returns the same text for texts that differ only in case, in every script: `toLowerCase` alone
 * distinguishes σ from ς and ß from SS, `toUpperCase` alone ẞ from SS. Also for texts with and without
 * accents, with letters that only look different, such as full-width ones and ligatures, with typographic quotes and
 * dashes, and with invisible characters.
 */
export function foldText(text: string): string {
  // A search reads thousands of texts, most of them of ASCII characters.
  if (!BEYOND_ASCII.test(text)) return text.toUpperCase();
  const visible = text.replace(INVISIBLE, '');
  const letters = normalize(visible, 'NFKD').replace(ACCENTS, '').toLowerCase().toUpperCase();
  return letters.replace(UNSEPARATED, (letter) => PLAIN[letter]!).normalize();
}
