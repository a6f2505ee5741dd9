// Patterns of JSON Schema: the part of ECMAScript's syntax that RE2 has, which matches in linear time.

import { RE2JS } from 're2js';

/** White space in ECMAScript; in RE2, `\s` is ASCII only. */
const SPACE = String.raw`\t-\r\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NO_SPACE = String.raw`\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
/** Characters that `.` matches in ECMAScript; in RE2, it matches all but `\n`. */
const NO_LINE_END = String.raw`[^\n\r\x{2028}\x{2029}]`;
/** An escape, a class of POSIX, an empty class, or a bracket. */
const TOKEN =
  /\\(?:[pP](?:\{[^}]*\})?|u(?:\{[^}]*\}|.{4})?|x(?:\{[^}]*\}|..)?|c.?|\d+|.)|\[:\^?\w*:\]|\[\^?\]|[[\]]/gs;
/** Punctuation can be escaped in both syntaxes. */
const ESCAPE = /^\\[\dA-Za-z]/;

/** Throws if ECMAScript or RE2 lacks the syntax. */
export function compilePattern(pattern: string): (text: string) => boolean {
  requireEcmaSyntax(pattern);
  const compiled = RE2JS.compile(withEcmaClasses(RE2JS.translateRegExp(withCodePoints(pattern))));
  return (text) => compiled.matcher(text).find();
}

/** RE2 accepts more, such as `(?i)` and `\A`, which other validators of JSON Schema reject or understand differently. */
function requireEcmaSyntax(pattern: string): void {
  let isInClass = false;
  for (const [token] of pattern.matchAll(TOKEN)) {
    const isPosixClass = isInClass && token.startsWith('[:');
    if (isPosixClass || isEmptyClass(token, isInClass) || isForeignEscape(token))
      throw new Error(`invalid in ECMAScript or in RE2: ${token}`);
    if (token === '[') isInClass = true;
    else if (token.endsWith(']')) isInClass = false;
  }
  // Without the flag `u`, fewer characters must be escaped.
  if (!isEcma(withoutProperties(pattern))) new RegExp(pattern);
}

/**
 * Replaces each property of characters, which has been checked by itself, with a class of the same syntax. V8
 * parses each `\p{L}` into 13 KB outside the heap that a thread may have: 64 KiB of them into 170 MB.
 */
function withoutProperties(pattern: string): string {
  return pattern.replace(TOKEN, (token) => (/^\\p/i.test(token) ? '\\d' : token));
}

function isEmptyClass(token: string, isInClass: boolean): boolean {
  return !isInClass && (token === '[]' || token === '[^]');
}

function isForeignEscape(token: string): boolean {
  return ESCAPE.test(token) && !isEcma(token);
}

function isEcma(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

/** Replaces each escaped surrogate pair, which RE2 matches with nothing, with its character. */
function withCodePoints(pattern: string): string {
  return pattern.replace(/\\u(d[89ab]..)\\u(d[c-f]..)|\\./gis, (token, high?: string, low?: string) =>
    high && low ? String.fromCharCode(Number(`0x${high}`), Number(`0x${low}`)) : token,
  );
}

function withEcmaClasses(pattern: string): string {
  let isInClass = false;
  /** Whether `.` matches everything in each of the groups around it, as in `(?s:.)`. */
  const dotMatchesAll = [false];
  return pattern.replace(/\\.|\(\?[a-z]*(?:-[a-z]*)?:|[[\].()]/gs, (token) => {
    if (token === '[') isInClass = true;
    if (token === ']') isInClass = false;
    const matchesAll = dotMatchesAll.at(-1)!;
    if (token === '.') return isInClass || matchesAll ? token : NO_LINE_END;
    if (token[0] === '(' && !isInClass)
      dotMatchesAll.push(token.includes('s') ? !/-.*s/.test(token) : matchesAll);
    if (token === ')' && !isInClass) dotMatchesAll.pop();
    if (token !== '\\s' && token !== '\\S') return token;
    const ranges = token === '\\s' ? SPACE : NO_SPACE;
    return isInClass ? ranges : `[${ranges}]`;
  });
}
