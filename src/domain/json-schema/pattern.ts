// Patterns in the syntax of ECMAScript, as far as RE2 has it, which matches in linear time.

import { RE2JS } from 're2js';

/** White space in ECMAScript; in RE2, `\s` is ASCII only. */
const SPACE = String.raw`\t-\r\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NO_SPACE = String.raw`\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;

/** Throws if RE2 lacks the syntax. */
export function compilePattern(pattern: string): (text: string) => boolean {
  const compiled = RE2JS.compile(withEcmaSpace(RE2JS.translateRegExp(pattern)));
  return (text) => compiled.matcher(text).find();
}

function withEcmaSpace(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\.|[[\]]/gs, (token) => {
    if (token === '[') isInClass = true;
    if (token === ']') isInClass = false;
    if (token !== '\\s' && token !== '\\S') return token;
    const ranges = token === '\\s' ? SPACE : NO_SPACE;
    return isInClass ? ranges : `[${ranges}]`;
  });
}
