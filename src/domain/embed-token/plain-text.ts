// Texts that stay data when a tool writes them between quotes. Tools escape by rules that differ between their versions,
// databases and drivers, so a text that one of them could read as the end of the value is refused, not escaped.

import { normalize } from '../normalize.ts';

/** Rule that a text breaks by matching. `detail` completes "the value …" and does not contain the text. */
export interface TextRule {
  pattern: RegExp;
  detail: string;
}

export const CONTROL: TextRule = { pattern: /\p{Cc}/u, detail: 'must not have control characters' };

/** The delimiters of Jinja, which Liquid shares, and of variables, which Spark replaces even in literals. */
export const TEMPLATE_SYNTAX: TextRule = {
  pattern: /\{[{%#]|\$\{/,
  detail: 'must not have {{, {%, {# or ${',
};

/** Includes typographic quotes and primes, which Lightdash and code pages convert to ASCII. */
const QUOTE: TextRule = {
  pattern: /["'`\u00b4\u02b9-\u02bf\u02c8\u02ca\u02cb\u2018-\u201f\u2032-\u2037]/,
  detail: 'must not have a quote or an apostrophe',
};

/** Includes the signs of yen and won, which replace the backslash in code pages of East Asia. */
const BACKSLASH: TextRule = {
  pattern: /[\\\u00a5\u20a9\u2216]/,
  detail: 'must not have a backslash, or one of ¥, ₩ and ∖, which databases can convert to it',
};

export const quotedRules: readonly TextRule[] = [QUOTE, BACKSLASH, CONTROL, TEMPLATE_SYNTAX];

/** Returns the first rule that the text breaks, as it is or with full-width characters converted to ASCII. */
export function brokenRule(text: string, rules: readonly TextRule[]): TextRule | undefined {
  const ascii = normalize(text, 'NFKC');
  return rules.find(({ pattern }) => pattern.test(text) || pattern.test(ascii));
}
