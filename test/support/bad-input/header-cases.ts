// Invalid headers and query strings, each with a valid body, by category.

import type { TestRequest } from '../http.ts';
import { type BodilessOperation, nameOf, type Operation, requestOf } from './operation.ts';
import { type BadCase, type ExpectedError, invalidRequest } from './refusal.ts';
import { phrases, words } from './value.ts';
import type { Victim } from './victim.ts';

type Headers = NonNullable<TestRequest['headers']>;
type AnyEndpoint = Operation | BodilessOperation;

const unauthenticated = { status: 401, code: 'unauthenticated' } as const;
const unsupported = { status: 415, code: 'unsupported_media_type' } as const;
const forbiddenOrigin = { status: 403, code: 'origin_not_allowed' } as const;

/** Returns headers none of which is `Token` or `Bearer`, spaces and a valid API token. */
export function badAuthorizations(operations: readonly AnyEndpoint[], { service, token }: Victim): BadCase[] {
  const valid = service.token;
  const schemes = words(
    'Bearers Bearer: Bearer= Basic Digest Negotiate ApiKey Tokens Tok-en X-Token Token: Token= "Token"',
  );
  const prefixes = phrases(
    'token=|Token|Token token=|Token api_key=|Token <|Token "|Token :|Token =|Token \u00a0',
  );
  const suffixes = phrases(`,|;|=|==|"|.|\\|\u00a0|\u00e9|\u00ff|%20|+|/| x|, x| ${valid}|, Token ${valid}`);
  const texts = [
    ...['', ' ', 'Token', 'Token ', 'Token\t', valid, ` ${valid}`, `"${valid}"`, `\u00e9Token ${valid}`],
    ...schemes.map((scheme) => `${scheme} ${valid}`),
    ...prefixes.map((before) => before + valid),
    ...suffixes.map((after) => `Token ${valid}${after}`),
    `Token ${valid.toLowerCase()}`,
    `Token ${valid.toUpperCase()}`,
    `Token ${valid.replace('_', '%5F')}`,
    `Token ${Buffer.from(valid).toString('base64')}`,
    `Token ${'x'.repeat(8_000)}`,
    `Token ${valid.repeat(200)}`,
    `Token ${token}`,
    ...words("null undefined * - 0 % _ '--or-1=1 $(id) ../../etc/passwd").map((text) => `Token ${text}`),
  ];
  return [
    ...combine(operations, 'authorization', texts, unauthenticated),
    ...operations.map((operation) => ({
      name: `${nameOf(operation)} without authorization`,
      request: requestOf(operation, { token: null }),
      ...unauthenticated,
    })),
  ];
}

/** Returns invalid bodies without authentication, whose callers must get no information about the body. */
export function unauthenticatedBodies(operations: readonly AnyEndpoint[], { apiTokens }: Victim): BadCase[] {
  const bodies = {
    'an empty body': '',
    'not JSON': '{',
    'not an object': '[]',
    'an unknown field': '{"x":1}',
    'a body that is too large': 'x'.repeat(300_000),
    'invalid UTF-8': Buffer.from([0xff]),
  };
  const callers = {
    'no token': null,
    'a revoked token': apiTokens.revoked,
    'an expired token': apiTokens.expired,
  };
  return operations.flatMap((operation) =>
    Object.entries(callers).flatMap(([caller, token]) =>
      Object.entries(bodies).flatMap(([what, body]) =>
        ['application/json', 'text/plain'].map((type) => ({
          name: `${nameOf(operation)} ${what} as ${type} with ${caller}`,
          request: requestOf(operation, { token, body, headers: { 'content-type': type } }),
          ...unauthenticated,
        })),
      ),
    ),
  );
}

const charsets = words(
  'utf-16 utf-16le utf-32 iso-8859-1 latin1 windows-1252 us-ascii shift_jis utf-7 "" utf8;q=1',
);
const mediaTypes: readonly string[] = [
  ...words(
    'text/plain text/json text/html text/xml text/javascript text/event-stream text/plain;charset=utf-8',
  ),
  ...words(
    'application/xml application/octet-stream application/x-www-form-urlencoded application/javascript',
  ),
  ...words('multipart/form-data;boundary=x multipart/mixed;boundary=x image/png */* application/* *'),
  ...words('application/x-json application/json5 application/jsonp application/jsonl application/x-ndjson'),
  ...words(
    'application/json-seq application/json-patch+json application/merge-patch+json application/ld+json',
  ),
  ...words(
    'application/problem+json application/vnd.api+json application/hal+json application/cbor application/yaml',
  ),
  ...words(
    'json /json application application/ application/json/ application/json,text/plain "application/json"',
  ),
  ...[
    '',
    'application /json',
    'application/ json',
    'text/plain, application/json',
    'application/json text/plain',
  ],
  ...[
    'application/json charset=utf-8',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json;\u00e9',
  ],
  ...charsets.map((charset) => `application/json; charset=${charset}`),
];
const contentCodings = words(
  'gzip GZIP x-gzip deflate br zstd compress gzip,identity identity,gzip aes128gcm utf-8 * x',
);
const origins = [
  ...['', '*', 'x', 'null', 'file://', '//evil.example', 'chrome-extension://x'],
  ...words('https://evil.example http://evil.example http://localhost http://127.0.0.1 http://127.0.0.1:1'),
  ...words('https://127.0.0.1.evil.example http://[::1] http://evil.example@127.0.0.1'),
];
const queries = words('?x ?user_group_id=present ?x=1&y=2 ?__proto__[polluted]=1 ?? ?%00 ?token=x ?& ?= ?x?');

export function badMediaTypes(operations: readonly AnyEndpoint[]): BadCase[] {
  return operations.filter(acceptsBody).flatMap((operation) => {
    const accepted = operation.method === 'PATCH' ? ['application/merge-patch+json'] : [];
    const others = mediaTypes.filter((type) => !accepted.includes(type));
    return combine([operation], 'content-type', others, unsupported);
  });
}

export function contentCoded(operations: readonly AnyEndpoint[]): BadCase[] {
  return combine(operations.filter(acceptsBody), 'content-encoding', contentCodings, unsupported);
}

export function foreignOrigins(operations: readonly AnyEndpoint[]): BadCase[] {
  return combine(operations, 'origin', origins, forbiddenOrigin);
}

/** Returns repeated headers of which Node silently keeps only the first. */
export function repeatedHeaders(
  operations: readonly AnyEndpoint[],
  { service, apiTokens }: Victim,
): BadCase[] {
  const valid = `Token ${service.token}`;
  const repeated: Record<string, Headers> = {
    'an API token twice': { authorization: [valid, valid] },
    'an API token and an empty value': { authorization: [valid, ''] },
    'an empty value and an API token': { authorization: ['', valid] },
    'two API tokens': { authorization: [valid, `Token ${apiTokens.workspace}`] },
    'a valid and an invalid API token': { authorization: [valid, 'Token x'] },
    'two schemes': { authorization: [valid, 'Basic eDp4'] },
    'an API token three times': { authorization: [valid, valid, valid] },
    'the same media type twice': { 'content-type': ['application/json', 'application/json'] },
    'two media types': { 'content-type': ['application/json', 'text/plain'] },
    'two media types, the invalid one first': { 'content-type': ['text/plain', 'application/json'] },
    'two codings': { 'content-encoding': ['identity', 'gzip'] },
    'two origins': { origin: ['https://a.example', 'https://b.example'] },
    'two If-Match': { 'if-match': ['"1-1"', '"1-2"'] },
    'two If-None-Match': { 'if-none-match': ['"1-1"', '"1-2"'] },
  };
  return operations.flatMap((operation) =>
    Object.entries(repeated).map(([what, headers]) => ({
      name: `${nameOf(operation)} with ${what}`,
      request: requestOf(operation, { token: null, headers: { authorization: valid, ...headers } }),
      ...invalidRequest,
    })),
  );
}

export function fieldsInQuery(operations: readonly AnyEndpoint[]): BadCase[] {
  return operations.flatMap((operation) =>
    queries.map((query) => ({
      name: `${nameOf(operation)}${query}`,
      request: requestOf(operation, { path: operation.path + query }),
      ...invalidRequest,
    })),
  );
}

const malformedTags = [
  ...words(`x 1-1 '1-1' "1-1 1-1" , ,, w/"1-1" W/1-1 *,"1-1" ** "1"1" " ""x`),
  '',
  '"1-1" "1-2"',
  '"1-1 "',
  '" 1-1"',
  '"1 1"',
  '"1-1", *',
  'W/ "1-1"',
  '"1\t1"',
];
const otherVersions = words('"1-999" "0-0" "1-0" "999-1" "" "x" "01-1" "1-1.0" "%" "*" "x","y"');

/**
 * Returns conditions that never match; a weak tag does not match even the stored version (RFC 9110 §13.1.1).
 */
export function badConditions(operations: readonly AnyEndpoint[], { etag }: Victim): BadCase[] {
  const text = etag.slice(1, -1);
  const others = [...otherVersions, `W/${etag}`, `W/${etag}, "y"`, `"x,${text}"`, `"${text},x"`];
  const current = ['*', etag, `W/${etag}`, `"x", ${etag}`];
  const either = [...new Set([...others, ...current])];
  const hasVersion = ({ method, path }: AnyEndpoint) =>
    path !== '/v1/resolve' && !(method === 'GET' && path === '/v1/user-groups');
  const [conditional, unconditional] = [
    operations.filter(hasVersion),
    operations.filter((each) => !hasVersion(each)),
  ];
  const isRead = ({ method, members }: AnyEndpoint) => method === 'GET' && members === undefined;
  const changing = conditional.filter((each) => !isRead(each));
  const versionMismatch = { status: 412, code: 'version_mismatch' } as const;
  const dates = ['Tue, 03 Mar 2026 09:15:00 GMT', etag, 'x'];
  return [
    ...combine(operations, 'if-match', malformedTags, invalidRequest),
    ...combine(operations, 'if-none-match', malformedTags, invalidRequest),
    ...['if-modified-since', 'if-unmodified-since', 'if-range'].flatMap((header) =>
      combine(operations, header, dates, invalidRequest),
    ),
    ...combine(unconditional, 'if-match', either, invalidRequest),
    ...combine(unconditional, 'if-none-match', either, invalidRequest),
    ...combine(conditional, 'if-match', others, versionMismatch),
    ...combine(changing, 'if-none-match', current, versionMismatch),
  ];
}

function acceptsBody({ members }: AnyEndpoint): boolean {
  return members !== undefined;
}

function combine(
  operations: readonly AnyEndpoint[],
  header: string,
  texts: readonly string[],
  expected: ExpectedError,
): BadCase[] {
  return operations.flatMap((operation) =>
    texts.map((text) => ({
      name: `${nameOf(operation)} with ${header}: ${JSON.stringify(text.slice(0, 100))} of ${text.length}`,
      request: requestOf(operation, { headers: { [header]: text } }),
      ...expected,
    })),
  );
}
