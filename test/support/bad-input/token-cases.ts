// Invalid tokens: mistyped, of another kind, or foreign.

import { crc32 } from 'node:zlib';
import {
  type BodilessOperation,
  nameOf,
  type Operation,
  objectText,
  onGroup,
  requestOf,
} from './operation.ts';
import type { BadCase, ExpectedError } from './refusal.ts';
import { words } from './value.ts';
import type { Victim } from './victim.ts';

const tokenNotFound = { status: 404, code: 'user_group_token_not_found' } as const;
const unauthenticated = { status: 401, code: 'unauthenticated' } as const;
const denied = { status: 403, code: 'permission_denied' } as const;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_DIGITS = 6;

/**
 * Returns the token with each character replaced, removed, doubled or swapped with its neighbour, and split
 * there.
 */
export function misspellings(token: string): string[] {
  const offsets = Array.from(token.slice(1), (_, index) => index + 1);
  const edited = (at: number, inserted: string, removed = 1) =>
    token.slice(0, at) + inserted + token.slice(at + removed);
  const all = offsets.flatMap((at) => [
    edited(at, DIGITS[(DIGITS.indexOf(token[at]!) + 1) % DIGITS.length]!),
    edited(at, ''),
    edited(at, token[at]!, 0),
    edited(at, token[at]! + token[at - 1]!, 0),
    edited(at - 1, token[at]! + token[at - 1]!, 2),
    token.slice(0, at),
    token.slice(at),
  ]);
  return Array.from(new Set(all)).filter((text) => text !== token);
}

/** Returns variants of the token that a lenient parser would accept. */
export function lenientVariants(token: string): string[] {
  const swapped = token.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  const surroundings = [
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\u0000',
    '\u00a0',
    '\ufeff',
    '\u200b',
    '"',
    "'",
    '<',
    '%20',
    '=',
    '/',
    '.',
    ',',
  ];
  return [
    ...surroundings.flatMap((text) => [text + token, token + text, text + token + text]),
    ...words('Token Bearer token: ugt_').map((before) => `${before} ${token}`),
    ...[swapped, token.toUpperCase(), token.toLowerCase(), token.repeat(2), `${token} ${token}`],
    ...[token.replace('_', '%5F'), token.replace('_', '-'), token.replace('_', ''), token.replace('_', '__')],
    ...[
      encodeURIComponent(`${token}\n`),
      Buffer.from(token).toString('base64'),
      Buffer.from(token).toString('hex'),
    ],
    token.normalize('NFKD').replace('u', 'ｕ'),
    Array.from(token).reverse().join(''),
  ];
}

/** Texts that are not tokens. */
export const notTokens: readonly string[] = [
  ...words("null undefined true 0 -1 {} [] * % _ ugt_ ugt uga_ ' '' \" \\ 1=1 $(id) {{7*7}} <script>"),
  ...[
    "' or '1'='1",
    "'; drop table user_groups; --",
    '%%%',
    '../../../etc/passwd',
    '\u0000',
    '\u0007',
    '\u001b[31m',
  ],
  ...[' ', '\t', '\n', '\u2028', '😀', '\u202e', 'e\u0301', '\ufffd', '\uffff', 'ugt_😀'],
  ...['constructor', '__proto__', 'toString', 'then', 'hasOwnProperty', 'x'.repeat(59), 'x'.repeat(200_000)],
  ...['0', 'z', ' ', '_', 'é'].map((character) => `ugt_${character.repeat(55 - 3)}`),
  '😀'.repeat(50_000),
];

/** Appends the correct checksum to a token that was never issued. */
function withChecksum(body: string): string {
  let remainder = crc32(body);
  let digits = '';
  while (digits.length < CHECKSUM_DIGITS) {
    digits = DIGITS[remainder % DIGITS.length] + digits;
    remainder = Math.floor(remainder / DIGITS.length);
  }
  return body + digits;
}

/** Well-formed tokens of valid buckets (000 to 4GF) and invalid ones. */
export const unknownTokens: readonly string[] = words('000 001 3Mu 4GF 4GG 4GH 500 zzz ___').flatMap(
  (bucket) => ['0', 'A', 'z'].map((digit) => withChecksum(`ugt_${bucket}${digit.repeat(43)}`)),
);

export const unknownApiTokens: readonly string[] = Array.from(DIGITS, (digit) =>
  withChecksum(`uga_${digit.repeat(43)}`),
);

export function invalidTokens(operations: readonly Operation[], tokens: readonly string[]): BadCase[] {
  const byToken = operations.filter(({ idIn }) => idIn === null);
  return combine(byToken, tokens, tokenNotFound, (operation, token) => ({
    body: objectText({ ...operation.members, [operation.required!]: JSON.stringify(token) }),
  }));
}

export function invalidApiTokens(
  operations: readonly (Operation | BodilessOperation)[],
  tokens: readonly string[],
): BadCase[] {
  return combine(operations, tokens, unauthenticated, (_operation, token) => ({
    token: null,
    headers: { authorization: `Token ${token}` },
  }));
}

/** Operations that an API token with the permission may not use; only read-write allows all. */
const denials: Readonly<Record<'resolve' | 'readOnly', readonly RegExp[]>> = {
  resolve: [/\/api\/user/, /\/v1\/user-groups/],
  readOnly: [/^(?:PUT|POST) \/api\/user$/, /^(?:PATCH|DELETE) /],
};

/** Requests that the permission of the API token does not allow. */
export function beyondPermission(
  operations: readonly Operation[],
  bodiless: readonly BodilessOperation[],
  { apiTokens }: Victim,
): BadCase[] {
  const deniedTo = (permission: keyof typeof denials) =>
    [...operations, ...bodiless]
      .filter((operation) => denials[permission].some((pattern) => pattern.test(nameOf(operation))))
      .map((operation) => ({
        name: `${nameOf(operation)} with the permission ${permission}`,
        request: requestOf(operation, { token: apiTokens[permission] }),
        ...denied,
      }));
  const creating = operations
    .filter((operation) => ['GET /api/user', 'POST /v1/user-groups'].includes(nameOf(operation)))
    .map((operation) => ({
      name: `${nameOf(operation)} with the permission readOnly, for a missing group`,
      request: requestOf(onGroup(operation, 'absent'), { token: apiTokens.readOnly }),
      ...denied,
    }));
  return [...deniedTo('resolve'), ...deniedTo('readOnly'), ...creating];
}

function combine<Each extends Operation | BodilessOperation>(
  operations: readonly Each[],
  tokens: readonly string[],
  expected: ExpectedError,
  requestWith: (operation: Each, token: string) => Parameters<typeof requestOf>[1],
): BadCase[] {
  return operations.flatMap((operation) =>
    tokens.map((token, index) => ({
      name: `${nameOf(operation)}, token ${index} of ${token.length}`,
      request: requestOf(operation, requestWith(operation, token)),
      ...expected,
    })),
  );
}
