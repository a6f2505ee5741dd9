// Bodies that are not JSON, that parsers read differently, or that are too large, by category.

import { nameOf, type Operation, objectText, requestOf } from './operation.ts';
import { type BadCase, type ExpectedError, invalidJson, invalidRequest } from './refusal.ts';
import { invalidUtf8, loneSurrogates, phrases, words } from './value.ts';

/** Text, or a buffer for bodies that are not valid UTF-8. */
type Body = string | Buffer;
interface BadBody {
  name: string;
  body: Body;
}

const MAX_BODY_BYTES = 256 * 1024;

/**
 * Texts that are not JSON values but that some parsers accept. Each is sent alone and as the value of every
 * field.
 */
const invalidValues: readonly string[] = [
  ...words('nul Null NULL nil None tru True TRUE yes undefined NaN Infinity -Infinity'),
  ...words('01 -01 00 +1 .5 1. - -- --1 1e 1e+ 1.e1 1e1.5 0x1 0b1 0o7 1_000 1n 1,5 1f $1 1; @1 ١ １ ²'),
  ...words(String.raw`'x' “x” x "x x" " "\ "\" "\u" "\u12" "\u123g" "\u{41}" "\x41" "\a" "\0" "\'" "\U0041"`),
  ...words('"a""b" "a"+"b" { } [ ] : , {] [} {{}} [[] {}} []] [,] [1,] [,1] [1,,2] [1:2] [1} [...]'),
  ...words('{,} {"a"} {"a":} {"a":,} {:1} {"a":1,} {,"a":1} {"a":1;"b":2} {"a":1,,"b":2} {"a"::1} {"a"=1}'),
  ...words(`{a:1} {'a':1} {1:2} {null:1} {[]:1} {"a":1,"b"} {/**/} {"a":1/**/} [1,/**/2] /**/1 1/**/ 1//`),
  ...words('<x/> <!--1--> --- !!js/undefined {{7*7}} %7b%7d () (1) a() ()=>1 `x`'),
  ...phrases('- 1|1 1|{} {}|[] []|[1 2]|{"a" 1}|{"a":1 "b":2}|"a" "b"|//\n1|#\n1|"\\\n"'),
  ...['\u00a01', '1\u00a0', '\u20281', '\u30001', '\ufeff1', '1\ufeff', '\u200b1', '\u00851'],
];

/**
 * Every unescaped control character: in a string, where RFC 8259 requires an escape, and outside, where most
 * are not white space.
 */
const bareControls: readonly string[] = Array.from({ length: 0x20 }, (_, code) =>
  String.fromCharCode(code),
).flatMap((control) =>
  '\t\n\r'.includes(control) ? [`"a${control}"`] : [`"a${control}"`, `${control}1`, `1${control}`],
);

export function emptyBodies(operations: readonly Operation[]): BadCase[] {
  const bodies = { 'no body': undefined, 'an empty body': '' };
  return operations.flatMap((operation) =>
    Object.entries(bodies).flatMap(([name, body]) =>
      ['application/json', undefined].map((type) => ({
        name: `${nameOf(operation)} ${name} as ${type}`,
        request: requestOf(operation, { body, headers: { 'content-type': type } }),
        status: 400,
        code: 'body_missing' as const,
      })),
    ),
  );
}

export function notObjects(operations: readonly Operation[]): BadCase[] {
  const values = ['null', 'true', 'false', '0', '-1.5e3', '""', '"x"', '"{}"', '[]', '[{}]', '[[]]'];
  return casesOf(operations, { ...invalidRequest, pointer: '' }, () =>
    values.flatMap((value) => [value, ` ${value}\n`]).map((body) => ({ name: visible(body), body })),
  );
}

export function notJson(operations: readonly Operation[]): BadCase[] {
  const texts = [...invalidValues, ...bareControls, ...[' ', '\n', '\t \r\n', '\u00a0', '\u0000', '\u007f']];
  return casesOf(operations, invalidJson, ({ members }) => [
    ...texts.map((body) => ({ name: visible(body), body })),
    ...Object.keys(members).flatMap((field) =>
      [...invalidValues, ...bareControls].map((text) => ({
        name: `${field} ${visible(text)}`,
        body: objectText({ ...members, [field]: text }),
      })),
    ),
  ]);
}

/** Each accepted body with leading or trailing text. */
export function extraText(operations: readonly Operation[]): BadCase[] {
  const others = [
    ...['null', '0', '""', '[]', '{}', ',', ';', '}', ']', ':', '\u0000', '\u001a', '\ufeff', '\u00a0'],
    '\u2028',
    '//',
    '#',
  ];
  return casesOf(operations, invalidJson, ({ members }) => {
    const body = objectText(members);
    return [...others, body].flatMap((other) => [
      { name: `${visible(other)} after`, body: body + other },
      { name: `${visible(other)} after a line break`, body: `${body}\n${other}` },
      { name: `${visible(other)} before`, body: other + body },
    ]);
  });
}

/** Each accepted body truncated at every byte, or with an invalid byte inserted there. */
export function brokenAtEachByte(operations: readonly Operation[]): BadCase[] {
  return casesOf(operations, invalidJson, ({ members }) => {
    const bytes = Buffer.from(objectText(members));
    const inserted = (byte: number) => (at: number) => ({
      name: `byte ${byte} at ${at}`,
      body: Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]),
    });
    const truncated = (at: number) => ({ name: `truncated at ${at}`, body: bytes.subarray(0, at) });
    const offsets = Array.from(bytes.keys());
    return [
      ...offsets.slice(1).map(truncated),
      ...[0x00, 0x1f, 0xff, 0x80].flatMap((byte) => offsets.map(inserted(byte))),
    ];
  });
}

/** Invalid UTF-8 in a value and in a key of every field, in an unknown field, and outside all strings. */
export function notUtf8(operations: readonly Operation[]): BadCase[] {
  const mark = '\u0001';
  return casesOf(operations, invalidJson, ({ members }) =>
    Object.entries(invalidUtf8).flatMap(([kind, sequences]) =>
      sequences.flatMap((sequence) => {
        const texts = [
          ...Object.keys(members).flatMap((field) =>
            [`"a${mark}"`, `{"${mark}":1}`, `{"k":["a",{"b":"${mark}"}]}`].map((text) => ({
              ...members,
              [field]: text,
            })),
          ),
          { ...members, x: mark },
        ].map(objectText);
        return [
          ...texts,
          `{"${mark}":1}`,
          `${mark}${objectText(members)}`,
          `${objectText(members)}${mark}`,
        ].map((text) => ({
          name: `${kind} ${sequence} in ${visible(text)}`,
          body: spliced(text, mark, Buffer.from(sequence)),
        }));
      }),
    ),
  );
}

export function otherEncodings(operations: readonly Operation[]): BadCase[] {
  return casesOf(operations, invalidJson, ({ members }) => {
    const body = objectText(members);
    const utf16 = Buffer.from(body, 'utf16le');
    const utf32 = Buffer.from(Uint32Array.from(body, (character) => character.codePointAt(0)!).buffer);
    return [
      { name: 'UTF-8 with a byte order mark', body: `\ufeff${body}` },
      { name: 'UTF-8 with two byte order marks', body: `\ufeff\ufeff${body}` },
      { name: 'only a byte order mark', body: '\ufeff' },
      { name: 'UTF-16LE', body: utf16 },
      { name: 'UTF-16LE with a byte order mark', body: Buffer.from(`\ufeff${body}`, 'utf16le') },
      { name: 'UTF-16BE', body: Buffer.from(utf16).swap16() },
      { name: 'UTF-16BE with a byte order mark', body: Buffer.from(`\ufeff${body}`, 'utf16le').swap16() },
      { name: 'UTF-32LE', body: utf32 },
      { name: 'UTF-32BE', body: Buffer.from(utf32).swap32() },
      { name: 'Latin-1', body: Buffer.from(objectText({ ...members, é: '1' }), 'latin1') },
      { name: 'base64', body: Buffer.from(body).toString('base64') },
      {
        name: 'gzip, undeclared',
        body: Buffer.from('1f8b0800000000000003ab56ca4c51b252ca28cd4d51aa05000f3a2fd60d000000', 'hex'),
      },
      { name: 'a form', body: 'user_group_id=present&name=x' },
      {
        name: 'a multipart form',
        body: '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--x--\r\n',
      },
      {
        name: 'random bytes',
        body: Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 7_919 + 13) % 256)),
      },
    ];
  });
}

/** Duplicate fields, with every escaping of the key and different values. */
export function duplicateFields(operations: readonly Operation[]): BadCase[] {
  return casesOf(operations, invalidJson, ({ members }) => {
    const body = objectText(members).slice(1, -1);
    return Object.entries(members).flatMap(([field, text]) =>
      escapingsOf(field).flatMap((key) =>
        Array.from(new Set([text, 'null', '"other"', '{}', '0'])).flatMap((value) => [
          { name: `${key}:${value} after`, body: `{${body},${key}:${value}}` },
          { name: `${key}:${value} before`, body: `{${key}:${value},${body}}` },
        ]),
      ),
    );
  });
}

export function prototypeFields(operations: readonly Operation[]): BadCase[] {
  return casesOf(operations, invalidJson, ({ members }) => {
    const body = objectText(members).slice(1, -1);
    return escapingsOf('__proto__').flatMap((key) =>
      ['{"polluted":1}', '{"user_group_id":"present"}', 'null', '1', '"x"', '[]'].flatMap((value) => [
        { name: `${key}:${value} after`, body: `{${body},${key}:${value}}` },
        { name: `${key}:${value} before`, body: `{${key}:${value},${body}}` },
        { name: `${key}:${value} alone`, body: `{${key}:${value}}` },
      ]),
    );
  });
}

export function illFormedKeys(operations: readonly Operation[]): BadCase[] {
  return casesOf(operations, invalidJson, ({ members }) =>
    loneSurrogates.map((text) => ({
      name: text,
      body: `{${objectText(members).slice(1, -1)},"${text}":1}`,
    })),
  );
}

/** Returns nesting that overflows the stack of a recursive parser or serializer. */
export function deepNesting(operations: readonly Operation[]): BadCase[] {
  const maxBytes = MAX_BODY_BYTES - 512;
  const bombs = {
    'opening brackets': '['.repeat(maxBytes),
    'opening braces': '{"a":'.repeat(maxBytes / 5),
    'closed brackets': '['.repeat(maxBytes / 2) + ']'.repeat(maxBytes / 2),
    'closed braces': `${'{"a":'.repeat(maxBytes / 6)}1${'}'.repeat(maxBytes / 6)}`,
    '18 levels': '['.repeat(18) + ']'.repeat(18),
  };
  return casesOf(operations, invalidJson, ({ members }) =>
    Object.entries(bombs).flatMap(([name, bomb]) => [
      { name, body: bomb },
      ...[...Object.keys(members), 'x'].map((field) => ({
        name: `${name} as ${field}`,
        body: objectText({ ...members, [field]: bomb }),
      })),
    ]),
  );
}

export function tooLarge(operations: readonly Operation[]): BadCase[] {
  const cases = casesOf(operations, { status: 413, code: 'body_too_large' }, ({ members }) => {
    const body = objectText(members);
    return [
      { name: 'one byte of trailing white space', body: body.padEnd(MAX_BODY_BYTES + 1) },
      { name: 'one byte of leading white space', body: body.padStart(MAX_BODY_BYTES + 1) },
      { name: 'one byte too long and not JSON', body: 'x'.repeat(MAX_BODY_BYTES + 1) },
      { name: '1 MiB of brackets', body: '['.repeat(2 ** 20) },
      { name: '1 MiB in a field', body: objectText({ ...members, name: `"${'x'.repeat(2 ** 20)}"` }) },
      { name: '1 MiB of zero bytes', body: Buffer.alloc(2 ** 20) },
    ];
  });
  const withoutLength = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
  const chunked = cases.map((each) => ({
    ...each,
    name: `${each.name}, chunked`,
    request: { ...each.request, headers: withoutLength },
  }));
  return [...cases, ...chunked];
}

function casesOf(
  operations: readonly Operation[],
  expected: ExpectedError,
  bodiesOf: (operation: Operation) => readonly BadBody[],
): BadCase[] {
  return operations.flatMap((operation) =>
    bodiesOf(operation).map(({ name, body }) => ({
      name: `${nameOf(operation)}: ${name}`,
      request: requestOf(operation, { body }),
      ...expected,
    })),
  );
}

/** Returns the key with and without JSON escapes. */
function escapingsOf(key: string): string[] {
  const escaped = Array.from(key, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  const upperCase = escaped.map((text) => text.slice(0, 2) + text.slice(2).toUpperCase());
  return [key, escaped[0] + key.slice(1), escaped.join(''), upperCase.join('')].map((text) => `"${text}"`);
}

function spliced(text: string, mark: string, bytes: Buffer): Buffer {
  const [before = '', after = ''] = text.split(mark);
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}

function visible(text: string): string {
  return JSON.stringify(text.slice(0, 100)) + (text.length > 100 ? text.length : '');
}
