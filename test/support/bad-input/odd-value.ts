// Unusual but valid values, which round-trip unchanged.

import { codePoints, controls, whiteSpace, words } from './value.ts';

/** Ids that are distinct although some of them look alike or are equivalent elsewhere. */
export const oddTexts: readonly string[] = distinct([
  // Composed and decomposed letters, and look-alikes of other scripts and widths.
  ...words(
    '\u00e9 e\u0301 \u1e9b\u0323 \u1e69 s\u0323\u0307 \u212b \u00c5 A\u030a \uac00 \u1100\u1161 \ufb01 fi ａ a а α 𝐚',
  ),
  ...words('Customer customer CUSTOMER Testing I i ı İ ß ss SS ẞ Σ σ ς K \u212a'),
  // Emoji of several code points, with joiners, selectors, skin tones, flags and tags.
  ...words('😀 👩‍👩‍👧‍👦 👩👩👧👦 👍🏽 👍 ❤ ❤\ufe0f 🇩🇪 🇩 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣'),
  // Invisible characters, and characters that change the text direction.
  ...words(
    '\u200b a\u200b a\u200d a\u2060 \u200e \u202eabc abc\u202e \u2066x\u2069 \u00ad a\u00adb \u034f \ufe0f \u115f',
  ),
  ...words('שלום مرحبا العربيةabc हिन्दी ไทย 中文 日本語 한국어 ქართული ᚠ 𓀀 𝕏 Z̸̢̛͓a̷̧̨l̴̡̛g̵̢o̶̢'),
  // The ends of the planes, private use, and noncharacters.
  ...words('\ufffd \ufffe \uffff \u{10ffff} \u{1fffe} \ufdd0 \ue000 \u{f0000} \ud7ff'),
  ...['a b', 'a  b', 'a\u00a0b', 'a\u2003b', 'a\u2028b', 'a\u2029b', 'a\ufeffb', 'a\u3000b'],
  // Syntax of other languages.
  ...[
    "'",
    '"',
    '\\',
    '\\\\',
    '`',
    '%',
    '_',
    '%_%',
    '\\%',
    '*',
    '?',
    '[a-z]',
    '^$',
    '.*',
    '--',
    ';',
    '#',
    '/*',
    '*/',
    '?'.repeat(9),
  ],
  ...[
    "' or '1'='1",
    "'; drop table user_groups; --",
    'a\\',
    "\\'",
    '$1',
    '$$',
    ':id',
    '@id',
    '{0}',
    '%s%n',
    'NULL',
    "E'\\n'",
  ],
  ...words(
    '{{7*7}} #{7*7} <%=7*7%> \u0024{jndi:ldap://x} $(id) `id` |id & && <script>alert(1)</script> <!-- ]]> &lt; %3Cx%3E',
  ),
  ...words(
    '../../etc/passwd ..\\..\\x / // /a/ . .. ~ %2e%2e%2f C:\\x file:///x https://x:y@z/?q#f a?b=c a&b a+b a=b',
  ),
  ...words(
    'null undefined true false NaN Infinity 0 -0 1 01 1.0 1e3 9007199254740993 [] {} [object-Object] None nil',
  ),
  ...words(
    'constructor prototype toString toJSON then valueOf hasOwnProperty length __defineGetter__ __proto __proto___',
  ),
  ...words('\\u0000 \\n %00 \\x00 &#0; =1+1 @SUM(A1) +1 -1 |cmd'),
  ...words(
    '1970-01-01 9999-12-31T23:59:60Z 2000-02-30 user_group_id name token ugt_ uga_ Bearer Set-Cookie:x=y',
  ),
  ...codePoints.map((point) => point.repeat(255)),
]);

/** Unlike ids, names may have leading and trailing white space. */
export const oddNames: readonly string[] = [
  ...oddTexts,
  ...whiteSpace.flatMap((space) => [`${space}a`, `a${space}`, `${space}a${space}`]),
];

/** Keys and values of mapping and properties may be any JSON string. */
export const oddKeys: readonly string[] = [...oddNames, ...controls, ...whiteSpace, '\u0000a', 'a\r\nb: c'];

/** Numbers that JavaScript does not serialize unchanged. */
export const oddNumbers: readonly string[] = [
  ...words(
    '0 -0 0.0 -0.0 0e0 1.0 1.10 1e0 1E0 1e+0 1e-0 1E+2 100 1.50e1 0.1 0.10 1e21 123456789012345678901234567890',
  ),
  ...words(
    '9007199254740991 9007199254740992 9007199254740993 -9007199254740993 18446744073709551616 2147483648',
  ),
  ...words(
    '1e308 1e309 1e400 -1e400 1e-323 1e-324 1e-400 5e-324 1e131000 0.30000000000000004 0.3 3.14159265358979323846',
  ),
  `1${'0'.repeat(400)}`,
  `0.${'0'.repeat(400)}1`,
];

/** `properties` at the limits of levels and bytes. */
export const extremeProperties: Readonly<Record<string, string>> = {
  '16 levels of objects': `${'{"a":'.repeat(15)}{}${'}'.repeat(15)}`,
  '15 levels of arrays in an object': `{"a":${'['.repeat(15)}${']'.repeat(15)}}`,
  '16 levels of both': `${'{"a":['.repeat(8)}${']}'.repeat(8)}`,
  '64 KiB of one text': `{"a":"${'x'.repeat(65_528)}"}`,
  '64 KiB of characters of 4 bytes': `{"a":"${'😀'.repeat(16_382)}"}`,
  '64 KiB of escapes': `{"a":"${String.raw`\u0000`.repeat(10_921)}xx"}`,
  '64 KiB of digits': `{"a":${'1'.repeat(65_530)}}`,
  '64 KiB of numbers': `{"a":[${'0,'.repeat(32_763)}10]}`,
  '64 KiB of names': `{"a":{${Array.from({ length: 6_000 }, (_, index) => `"${index}":0`).join(',')}}}`,
  '100 keys of 255 characters': objectOf(100, (index) => `${index}`.padStart(255, 'é')),
  'a nested key of 10 000 characters': `{"a":{"${'k'.repeat(10_000)}":1}}`,
  'a nested empty key': '{"a":{"":{"":1}}}',
  'numeric keys': '{"2":"b","10":"j","1":"a","-1":"z","01":"y","1.0":"x","9007199254740993":"w"}',
  'prototype properties':
    '{"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1},"a":{"constructor":1}}',
  'names of built-in methods':
    '{"toJSON":1,"then":1,"valueOf":1,"toString":null,"inspect":1,"length":0,"get":{"set":1}}',
  'no keys': '{}',
  'every JSON value': '{"a":null,"b":true,"c":false,"d":0,"e":"","f":[],"g":{},"h":[null,[],{},""]}',
};

function distinct(texts: readonly string[]): string[] {
  return Array.from(new Set(texts));
}

function objectOf(count: number, keyOf: (index: number) => string): string {
  return `{${Array.from({ length: count }, (_, index) => `${JSON.stringify(keyOf(index))}:0`).join(',')}}`;
}
