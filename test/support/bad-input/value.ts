// Values that most fields must reject, as JSON texts.

type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

const texts: Readonly<Record<JsonType, readonly string[]>> = {
  null: ['null'],
  boolean: ['true', 'false'],
  number: ['0', '-0', '1', '1.0', '-1.5', '9007199254740993', '1e400', '-1e-400'],
  string: ['"x"', '"null"', '"true"', '"1"', '"[]"', '"{}"', '"[object Object]"'],
  array: ['[]', '[null]', '["x"]', '[["x"]]', '[{"x":"x"}]'],
  object: ['{}', '{"x":"x"}', '{"length":1}', '{"toString":"x"}', '{"constructor":{"prototype":{"x":1}}}'],
};

/** Returns values of every JSON type except these. */
export function notOf(...types: JsonType[]): string[] {
  return Object.entries(texts).flatMap(([type, values]) => (types.includes(type as JsonType) ? [] : values));
}

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

export const loneSurrogates: readonly string[] = [
  String.raw`\ud800`,
  String.raw`\udbff`,
  String.raw`\udc00`,
  String.raw`\uDFFF`,
  String.raw`\udc00\ud800`,
  String.raw`\ud83d\u0041`,
  String.raw`\ud83d\\ude00`,
  String.raw`\ud83d\ud83d\ude00`,
  String.raw`\ud83d\ude00\ude00`,
];

/** Sequences that RFC 3629 forbids, by kind. */
export const invalidUtf8: Readonly<Record<string, readonly number[][]>> = {
  'a lone continuation byte': [[0x80], [0x8f], [0xa0], [0xbf], [0x80, 0xbf], [0xc3, 0xa9, 0xa9]],
  'a truncated sequence': [
    [0xc3],
    [0xe4, 0xb8],
    [0xe4],
    [0xf0, 0x9f, 0x98],
    [0xf0, 0x9f],
    [0xf0],
    [0xdf, 0x2e],
  ],
  'an overlong encoding': [
    [0xc0, 0x80],
    [0xc0, 0xaf],
    [0xc1, 0xbf],
    [0xe0, 0x80, 0x80],
    [0xe0, 0x80, 0xaf],
    [0xe0, 0x9f, 0xbf],
    [0xf0, 0x80, 0x80, 0x80],
    [0xf0, 0x80, 0x80, 0xaf],
    [0xf0, 0x8f, 0xbf, 0xbf],
  ],
  'a surrogate': [
    [0xed, 0xa0, 0x80],
    [0xed, 0xaf, 0xbf],
    [0xed, 0xb0, 0x80],
    [0xed, 0xbf, 0xbf],
    [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
  ],
  'a code point above U+10FFFF': [
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0xf7, 0xbf, 0xbf, 0xbf],
    [0xf8, 0x88, 0x80, 0x80, 0x80],
    [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80],
  ],
  'a byte that UTF-8 never uses': [[0xc0], [0xc1], [0xf5], [0xfe], [0xff], [0xfe, 0xff], [0xff, 0xfe]],
};

/** Returns an object with `count` distinct members. */
export function entries(count: number, value = '1'): string {
  return `{${Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(',')}}`;
}

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
