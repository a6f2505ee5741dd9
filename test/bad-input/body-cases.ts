// Bodies that are no JSON, or that two parsers would read differently, or that are too large: by sentence.

import { nameOf, type Operation, objectText, requestOf } from './operation.ts';
import { type BadCase, invalidJson, invalidRequest, type Refusal } from './refusal.ts';
import { invalidUtf8, loneSurrogates, phrases, words } from './value.ts';

/** Stands where a text has no bytes of UTF-8 to show. */
type Body = string | Buffer;
interface BadBody {
  name: string;
  body: Body;
}

const MAX_BODY_BYTES = 256 * 1024;

/** Texts that are no JSON value, though some parsers take them for one. Each is tried alone and as every member. */
const noValues: readonly string[] = [
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

/** Every control character bare, in a string where RFC 8259 wants it escaped, and outside where most are no white space. */
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

export function noObjects(operations: readonly Operation[]): BadCase[] {
  const values = ['null', 'true', 'false', '0', '-1.5e3', '""', '"x"', '"{}"', '[]', '[{}]', '[[]]'];
  return casesOf(operations, { ...invalidRequest, pointer: '' }, () =>
    values.flatMap((value) => [value, ` ${value}\n`]).map((body) => ({ name: visible(body), body })),
  );
}

export function noJson(operations: readonly Operation[]): BadCase[] {
  const texts = [...noValues, ...bareControls, ...[' ', '\n', '\t \r\n', '\u00a0', '\u0000', '\u007f']];
  return casesOf(operations, invalidJson, ({ members }) => [
    ...texts.map((body) => ({ name: visible(body), body })),
    ...Object.keys(members).flatMap((field) =>
      [...noValues, ...bareControls].map((text) => ({
        name: `${field} ${visible(text)}`,
        body: objectText({ ...members, [field]: text }),
      })),
    ),
  ]);
}

/** Each accepted body with something before or after it. */
export function moreThanOneValue(operations: readonly Operation[]): BadCase[] {
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
      { name: `${visible(other)} after a line`, body: `${body}\n${other}` },
      { name: `${visible(other)} before`, body: other + body },
    ]);
  });
}

/** Each accepted body broken at each of its bytes: cut off there, or with a byte put in that JSON has nowhere. */
export function brokenAtEachByte(operations: readonly Operation[]): BadCase[] {
  return casesOf(operations, invalidJson, ({ members }) => {
    const bytes = Buffer.from(objectText(members));
    const inserted = (byte: number) => (at: number) => ({
      name: `byte ${byte} at ${at}`,
      body: Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]),
    });
    const cutOff = (at: number) => ({ name: `cut off at ${at}`, body: bytes.subarray(0, at) });
    const places = Array.from(bytes.keys());
    return [
      ...places.slice(1).map(cutOff),
      ...[0x00, 0x1f, 0xff, 0x80].flatMap((byte) => places.map(inserted(byte))),
    ];
  });
}

/** In a value and in a key of every field, in an unknown field, and outside of all strings. */
export function notUtf8(operations: readonly Operation[]): BadCase[] {
  const mark = '\u0001';
  return casesOf(operations, invalidJson, ({ members }) =>
    Object.entries(invalidUtf8).flatMap(([wrong, sequences]) =>
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
          name: `${wrong} ${sequence} in ${visible(text)}`,
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
      { name: 'a byte order mark only', body: '\ufeff' },
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

/** A field twice, in whatever spelling and with whatever value. */
export function repeatedFields(operations: readonly Operation[]): BadCase[] {
  return casesOf(operations, invalidJson, ({ members }) => {
    const body = objectText(members).slice(1, -1);
    return Object.entries(members).flatMap(([field, text]) =>
      spellingsOf(field).flatMap((key) =>
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
    return spellingsOf('__proto__').flatMap((key) =>
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

/** Nesting that a recursive parser, or one that prints the value again, dies of. */
export function deepNesting(operations: readonly Operation[]): BadCase[] {
  const most = MAX_BODY_BYTES - 512;
  const bombs = {
    'opening brackets': '['.repeat(most),
    'opening braces': '{"a":'.repeat(most / 5),
    'closed brackets': '['.repeat(most / 2) + ']'.repeat(most / 2),
    'closed braces': `${'{"a":'.repeat(most / 6)}1${'}'.repeat(most / 6)}`,
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
      { name: 'one byte of white space more', body: body.padEnd(MAX_BODY_BYTES + 1) },
      { name: 'one byte of white space more before', body: body.padStart(MAX_BODY_BYTES + 1) },
      { name: 'one byte more of no JSON', body: 'x'.repeat(MAX_BODY_BYTES + 1) },
      { name: '1 MiB of brackets', body: '['.repeat(2 ** 20) },
      { name: '1 MiB in a field', body: objectText({ ...members, name: `"${'x'.repeat(2 ** 20)}"` }) },
      { name: '1 MiB of zero bytes', body: Buffer.alloc(2 ** 20) },
    ];
  });
  const unannounced = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
  const chunked = cases.map((each) => ({
    ...each,
    name: `${each.name}, in chunks`,
    request: { ...each.request, headers: unannounced },
  }));
  return [...cases, ...chunked];
}

function casesOf(
  operations: readonly Operation[],
  refusal: Refusal,
  bodiesOf: (operation: Operation) => readonly BadBody[],
): BadCase[] {
  return operations.flatMap((operation) =>
    bodiesOf(operation).map(({ name, body }) => ({
      name: `${nameOf(operation)}: ${name}`,
      request: requestOf(operation, { body }),
      ...refusal,
    })),
  );
}

/** The key in the ways in which JSON can write it. */
function spellingsOf(key: string): string[] {
  const escaped = Array.from(key, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  const shouted = escaped.map((text) => text.slice(0, 2) + text.slice(2).toUpperCase());
  return [key, escaped[0] + key.slice(1), escaped.join(''), shouted.join('')].map((text) => `"${text}"`);
}

function spliced(text: string, mark: string, bytes: Buffer): Buffer {
  const [before = '', after = ''] = text.split(mark);
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}

function visible(text: string): string {
  return JSON.stringify(text.slice(0, 100)) + (text.length > 100 ? text.length : '');
}
