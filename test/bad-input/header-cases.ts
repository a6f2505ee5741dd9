// Headers and URLs that a request must not have, each with a body that the operation accepts: by sentence.

import type { TestRequest } from '../http.ts';
import { type BodilessOperation, nameOf, type Operation, requestOf } from './operation.ts';
import { type BadCase, invalidRequest, type Refusal } from './refusal.ts';
import { phrases, words } from './value.ts';
import type { Victim } from './victim.ts';

type Headers = NonNullable<TestRequest['headers']>;
type AnyOperation = Operation | BodilessOperation;

const unauthenticated = { status: 401, code: 'unauthenticated' } as const;
const unsupported = { status: 415, code: 'unsupported_media_type' } as const;
const forbiddenOrigin = { status: 403, code: 'origin_not_allowed' } as const;

/** No text of these is `Token`, spaces, and a good API token. */
export function badAuthorizations(
  operations: readonly AnyOperation[],
  { service, token }: Victim,
): BadCase[] {
  const good = service.token;
  const schemes = words('Bearer Basic Digest Negotiate ApiKey Tokens Tok-en X-Token Token: Token= "Token"');
  const prefixes = phrases(
    'token=|Token|Token token=|Token api_key=|Token <|Token "|Token :|Token =|Token \u00a0',
  );
  const suffixes = phrases(`,|;|=|==|"|.|\\|\u00a0|\u00e9|\u00ff|%20|+|/| x|, x| ${good}|, Token ${good}`);
  const texts = [
    ...['', ' ', 'Token', 'Token ', 'Token\t', good, ` ${good}`, `"${good}"`, `\u00e9Token ${good}`],
    ...schemes.map((scheme) => `${scheme} ${good}`),
    ...prefixes.map((before) => before + good),
    ...suffixes.map((after) => `Token ${good}${after}`),
    `Token ${good.toLowerCase()}`,
    `Token ${good.toUpperCase()}`,
    `Token ${good.replace('_', '%5F')}`,
    `Token ${Buffer.from(good).toString('base64')}`,
    `Token ${'x'.repeat(8_000)}`,
    `Token ${good.repeat(200)}`,
    `Token ${token}`,
    ...words("null undefined * - 0 % _ '--or-1=1 $(id) ../../etc/passwd").map((text) => `Token ${text}`),
  ];
  return [
    ...crossed(operations, 'authorization', texts, unauthenticated),
    ...operations.map((operation) => ({
      name: `${nameOf(operation)} without authorization`,
      request: requestOf(operation, { token: null }),
      ...unauthenticated,
    })),
  ];
}

/** Nothing about a body is told to a caller who is nobody. */
export function badBodiesOfNobody(operations: readonly AnyOperation[], { apiTokens }: Victim): BadCase[] {
  const bodies = {
    'an empty body': '',
    'no JSON': '{',
    'no object': '[]',
    'an unknown field': '{"x":1}',
    'too large a body': 'x'.repeat(300_000),
    'invalid UTF-8': Buffer.from([0xff]),
  };
  const callers = {
    nobody: null,
    'a revoked token': apiTokens.revoked,
    'an expired token': apiTokens.expired,
  };
  return operations.flatMap((operation) =>
    Object.entries(callers).flatMap(([caller, token]) =>
      Object.entries(bodies).flatMap(([what, body]) =>
        ['application/json', 'text/plain'].map((type) => ({
          name: `${nameOf(operation)} ${what} as ${type} of ${caller}`,
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

export function badMediaTypes(operations: readonly AnyOperation[]): BadCase[] {
  return operations.filter(takesBody).flatMap((operation) => {
    const accepted = operation.method === 'PATCH' ? ['application/merge-patch+json'] : [];
    const others = mediaTypes.filter((type) => !accepted.includes(type));
    return crossed([operation], 'content-type', others, unsupported);
  });
}

export function contentCoded(operations: readonly AnyOperation[]): BadCase[] {
  return crossed(operations.filter(takesBody), 'content-encoding', contentCodings, unsupported);
}

export function foreignOrigins(operations: readonly AnyOperation[]): BadCase[] {
  return crossed(operations, 'origin', origins, forbiddenOrigin);
}

/** Headers of which Node keeps the first and drops the others without a word. */
export function repeatedHeaders(
  operations: readonly AnyOperation[],
  { service, apiTokens }: Victim,
): BadCase[] {
  const good = `Token ${service.token}`;
  const repeated: Record<string, Headers> = {
    'an API token twice': { authorization: [good, good] },
    'an API token and nothing': { authorization: [good, ''] },
    'nothing and an API token': { authorization: ['', good] },
    'two API tokens': { authorization: [good, `Token ${apiTokens.workspace}`] },
    'an API token and a bad one': { authorization: [good, 'Token x'] },
    'a scheme of two kinds': { authorization: [good, 'Basic eDp4'] },
    'an API token three times': { authorization: [good, good, good] },
    'the same media type twice': { 'content-type': ['application/json', 'application/json'] },
    'two media types': { 'content-type': ['application/json', 'text/plain'] },
    'two media types, the bad one first': { 'content-type': ['text/plain', 'application/json'] },
    'two codings': { 'content-encoding': ['identity', 'gzip'] },
    'two origins': { origin: ['https://a.example', 'https://b.example'] },
    'two conditions': { 'if-match': ['"1-1"', '"1-2"'] },
  };
  return operations.flatMap((operation) =>
    Object.entries(repeated).map(([what, headers]) => ({
      name: `${nameOf(operation)} with ${what}`,
      request: requestOf(operation, { token: null, headers: { authorization: good, ...headers } }),
      ...invalidRequest,
    })),
  );
}

export function fieldsInTheQuery(operations: readonly AnyOperation[]): BadCase[] {
  return operations.flatMap((operation) =>
    queries.map((query) => ({
      name: `${nameOf(operation)}${query}`,
      request: requestOf(operation, { path: operation.path + query }),
      ...invalidRequest,
    })),
  );
}

const noEntityTags = [
  ...words(`x 1-1 '1-1' "1-1 1-1" "1-1", ,"1-1" "1-1",,"1-2" w/"1-1" W/1-1 *,"1-1" ** "1"1"`),
  '',
  '"1-1" "1-2"',
];
const otherVersions = [
  ...words('"1-999" "0-0" "1-0" "999-1" "" "x" "01-1" "1-1.0" "%" "*" "x","y"'),
  '"1-1 "',
  '" 1-1"',
];

/** A weak tag never matches, not even that of the stored version (RFC 9110 §13.1.1). */
export function badConditions(operations: readonly AnyOperation[], { etag }: Victim): BadCase[] {
  const others = [...otherVersions, `W/${etag}`, `W/${etag}, "x"`];
  const updates = operations.filter(({ method }) => ['PUT', 'PATCH', 'DELETE'].includes(method));
  return [
    ...crossed(updates, 'if-match', noEntityTags, invalidRequest),
    ...crossed(updates, 'if-match', others, { status: 412, code: 'version_mismatch' }),
  ];
}

function takesBody({ members }: AnyOperation): boolean {
  return members !== undefined;
}

function crossed(
  operations: readonly AnyOperation[],
  header: string,
  texts: readonly string[],
  refusal: Refusal,
): BadCase[] {
  return operations.flatMap((operation) =>
    texts.map((text) => ({
      name: `${nameOf(operation)} with ${header}: ${JSON.stringify(text.slice(0, 100))} of ${text.length}`,
      request: requestOf(operation, { headers: { [header]: text } }),
      ...refusal,
    })),
  );
}
