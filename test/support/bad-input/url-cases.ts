// Invalid paths and query strings, percent-encoded as on the wire, by category.

import { type BodilessOperation, nameOf, type Operation, requestOf } from './operation.ts';
import { type BadCase, invalidRequest } from './refusal.ts';
import { codePoints, controls, invalidUtf8, phrases, whiteSpace, words } from './value.ts';

type AnyEndpoint = Operation | BodilessOperation;

const MAX_CODE_POINTS = 255;
const tooLong = codePoints.flatMap((point) => [point.repeat(MAX_CODE_POINTS + 1), point.repeat(1_000)]);
const malformed = words('% %% %1 %zz %z1 %1z a% a%2 %u0041 %-1 %e4%b8 %F0%9F%98 a%ffb %C0%AF %ED%A0%80');
const encoded = (bytes: readonly number[]) =>
  bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const notUtf8 = Object.values(invalidUtf8).flat().map(encoded);

/** Encoded path segments. */
export const badIds: Readonly<Record<string, readonly string[]>> = {
  'is malformed percent-encoding': malformed,
  'is not UTF-8': notUtf8,
  'has a control character': controls.flatMap((control) =>
    [control, `${control}a`, `a${control}b`, `a${control}`].map(encodeURIComponent),
  ),
  'has leading or trailing white space': whiteSpace.flatMap((space) =>
    [space, `${space}a`, `a${space}`].map(encodeURIComponent),
  ),
  'is empty or too long': ['', ...tooLong.map(encodeURIComponent)],
};

/** Query strings. */
export const badListQueries: Readonly<Record<string, readonly string[]>> = {
  'an unknown parameter': [
    ...words('x x=1 limt=1 Limit=1 limit%20=1 page=1 offset=1 =1 = & limit=1& &limit=1 limit=1&&search=a'),
    ...words(
      '__proto__=1 constructor=1 limit[]=1 limit[0]=1 user_group_id=present token=x name=a order=name',
    ),
  ],
  'a limit that is not a whole number from 1 to 1000': [
    ...words('0 -0 -1 1001 1000000 99999999999999999999 1.0 1.5 1e2 1e400 0x10 01 ١ １ a null NaN Infinity'),
    ...['', '%20', '5%20', '%205', '+5', '5+', '%2B5', '5,6', '5;6', "5'", '5%00'],
  ].map((text) => `limit=${text}`),
  'a search that is empty, too long or has a control character': [
    '',
    ...tooLong.map(encodeURIComponent),
    ...controls.flatMap((control) => [control, `a${control}`].map(encodeURIComponent)),
  ].map((text) => `search=${text}`),
  'malformed percent-encoding or invalid UTF-8': [...malformed, ...notUtf8].flatMap((text) => [
    `search=${text}`,
    `${text}=a`,
  ]),
  'a repeated parameter': [
    ...words('limit=1&limit=1 limit=1&limit=2 search=a&search=b search=a&limit=1&search=a limit=1&l%69mit=1'),
  ],
  'a parameter without a value': words('limit search cursor cursor= limit&search=a'),
  'a malformed cursor': [
    ...phrases('x|0|-1|a b|[]|{}|%00|%20|==|eyJhIjoxfQ==|null|undefined|1000000'.replaceAll(' ', '%20')),
    'A'.repeat(22),
    'A'.repeat(23),
    'A'.repeat(5_000),
    '%2e%2e%2f'.repeat(20),
  ].map((text) => `cursor=${text}`),
};

export function inPath(operations: readonly AnyEndpoint[], ids: readonly string[]): BadCase[] {
  return operations
    .filter(({ idIn }) => idIn === 'path')
    .flatMap((operation) =>
      Array.from(new Set(ids), (id) => ({
        name: `${nameOf(operation)} of ${id.slice(0, 60)} of ${id.length}`,
        request: { ...requestOf(operation), path: `/v1/user-groups/${id}` },
        ...invalidRequest,
      })),
    );
}

export function inQuery(queries: readonly string[]): BadCase[] {
  return Array.from(new Set(queries), (query) => ({
    name: `${query.slice(0, 60)} of ${query.length}`,
    request: { method: 'GET', path: `/v1/user-groups?${query}` },
    ...invalidRequest,
  }));
}

/**
 * Returns bodies for operations without one, which must reject them, so that a get-or-create sent to the
 * wrong path does not look successful.
 */
export function unexpectedBodies(operations: readonly BodilessOperation[]): BadCase[] {
  // An empty object is accepted (test/http/body.test.ts).
  const bodies = ['[]', '{"user_group_id":"present","name":"N"}', 'null', ' ', '{', 'x'.repeat(1_000)];
  return operations.flatMap((operation) =>
    bodies.flatMap((body) =>
      ['application/json', 'text/plain', undefined].map((type) => ({
        name: `${nameOf(operation)} with ${body.slice(0, 60)} as ${type}`,
        request: requestOf(operation, { body, headers: { 'content-type': type } }),
        ...invalidRequest,
      })),
    ),
  );
}
