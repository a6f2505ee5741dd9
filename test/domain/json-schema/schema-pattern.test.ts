// Patterns of property schemas: the syntax that ECMAScript and RE2 share, with the matches of ECMAScript.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import { compilePattern } from '../../../src/domain/json-schema/pattern.ts';

const PATTERNS = [
  ...['a', '^a', 'a$', '^a+b*c?$', 'a{2,3}', 'a|bc', '(ab)+', '(?:ab)+', '[abc]', '[^abc]', '[a-c]x'],
  ...[
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '[\\s]',
    '[\\S]',
    '[^\\s]',
    '[\\s\\d]',
    '[a\\s]b',
    '\\[\\s',
    '\\\\s',
  ],
  ...[
    '\\bab\\b',
    '\\n',
    '\\t',
    '\\x41',
    '\\u0041',
    '\\u{1f600}',
    '\\cJ',
    '\\p{L}',
    '\\P{L}',
    '[\\p{Lu}]',
    '[\\p{Lu}-]',
    '\\p{L}{2}',
    '\\\\p{2}',
    '\\/',
    '\\.',
  ],
  ...[
    '[[]',
    '[\\]]',
    '[\\[\\]]',
    '[a-]',
    'a]',
    '[:a:]',
    '\\0',
    '(?<name>a)b',
    '[\\^]',
    '[a][:b:]',
    '\\d[:a:]',
    '[a]\\s',
    '[a]\\S',
    '^\\s*$',
    '[^\\S]',
  ],
  ...['^.$', '^[.]$', '\\.', '^.+b$', '\\ud83d\\ude00', '^[\\uD83D\\uDE00]$', '\\\\ud83d', '\\ud83d'],
  ...['^(?s:.)$', '^(?s:(a?).)$', '^(?s:(?-s:.))$', '^(?s:a?).$', '^[(?s:]?.$'],
];
const TEXTS = [
  ...[
    '',
    'a',
    'b',
    'ab',
    'abc',
    'aab',
    'aaab',
    'bc',
    'A',
    'ax',
    'x',
    'É',
    'é',
    '1',
    '_',
    '-',
    '.',
    '/',
    ':',
    ']',
    '[',
  ],
  ...[
    '[ ',
    '\\s',
    '^',
    ' ',
    '\t',
    '\n',
    '\r',
    '\u000b',
    '\u00a0',
    '\u2028',
    '\u3000',
    '\ufeff',
    '\u180e',
    '\u200b',
    '\0',
    'ab b',
  ],
  ...['😀', '\u1680', '\u2000', '\u200a', '\u202f', '\u205f', '\u0085', 'x[', 'x:'],
];
const INVALID = [
  ...['(', ')', '[', '*', 'a{2,1}', '(?=a)', '(?!a)', '(?<=a)', '(?<!a)', '(a)\\1', '\\k<a>'],
  ...[
    '(?i)a',
    '\\A',
    '\\z',
    '\\Q',
    '\\pN',
    '\\C',
    '\\a',
    '[[:alpha:]]',
    '[a[:^digit:]]',
    '[]',
    '[^]',
    'a[]b',
    '(?P<a>b)',
  ],
  ...['\\x', '\\x4', '\\u00', '\\u{}', '\\c', '\\p', '\\p{}', '\\p{Nope}', '\\_a\\e', 'a**', '\\x{41}'],
  '[\\p{L}-z]',
];

describe('A pattern', () => {
  for (const pattern of PATTERNS) {
    it(`${pattern} has the matches of ECMAScript`, () => {
      const expected = expressionOf(pattern);
      const matches = compilePattern(pattern);
      for (const text of TEXTS) assert.equal(matches(text), expected.test(text), JSON.stringify(text));
    });
  }

  for (const pattern of INVALID) {
    it(`${pattern} is invalid in ECMAScript or in RE2`, () => assert.throws(() => compilePattern(pattern)));
  }

  it('takes little memory outside of the heap, whatever properties of characters it names', () => {
    const before = getHeapStatistics().peak_malloced_memory;
    compilePattern('\\p{L}'.repeat(10_000));
    assert.ok(getHeapStatistics().peak_malloced_memory < before + 16_000_000);
  });
});

/** Compiles a pattern, without the flag `u` if need be: fewer characters must be escaped then. */
function expressionOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}
