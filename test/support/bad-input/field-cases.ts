// Values that a field must reject, by category and field. Each is the complete value of the field.

import type { ProblemCode } from '../../../src/problem.ts';
import { nameOf, type Operation, objectText, onGroup, requestOf } from './operation.ts';
import type { BadCase } from './refusal.ts';
import { codePoints, controls, entries, loneSurrogates, notOf, whiteSpace, words } from './value.ts';

interface BadValue {
  text: string;
  code: ProblemCode;
  /** Pointer to the invalid part, relative to the field. */
  at: string;
}

type Field =
  | 'user_group_id'
  | 'name'
  | 'mapping'
  | 'properties'
  | 'current_token'
  | 'grace_period_seconds'
  | 'token';
type FieldTable = Partial<Record<Field, readonly BadValue[]>>;

const MAX_CODE_POINTS = 255;
const tooLongTexts = codePoints.flatMap((point) => [point.repeat(MAX_CODE_POINTS + 1), point.repeat(5_000)]);
/** Returns the character alone and at every position. */
const atEveryPosition = (character: string) => [
  character,
  `${character}a`,
  `a${character}b`,
  `a${character}`,
];

const texts = (values: readonly string[]) => invalid(values.map((value) => JSON.stringify(value)));
const keys = (values: readonly string[]) =>
  values.flatMap((key) => invalid([`{${JSON.stringify(key)}:"x"}`], `/${key}`));
const mapped = (values: readonly string[]) =>
  invalid(
    values.map((value) => `{"40":"213","k":${value}}`),
    '/k',
  );
const ambiguous = (values: readonly string[]) => invalid(values, '', 'invalid_json');

const tooManyEntries = invalid([entries(101), entries(1_001), entries(10_000)]);
const badKeys = keys(['', ...tooLongTexts]);
const nested = (innermost: string, levels: number) => [
  `${'{"a":'.repeat(levels)}${innermost}${'}'.repeat(levels)}`,
  `{"a":${'['.repeat(levels)}${innermost}${']'.repeat(levels)}}`,
  `${'{"a":['.repeat(levels)}${innermost}${']}'.repeat(levels)}`,
];

const ofAnotherType = invalid(notOf('string'));
const illFormedText = ambiguous(
  loneSurrogates.flatMap((text) => atEveryPosition(text).map((each) => `"${each}"`)),
);
const prototypeKeys = ['"__proto__"', String.raw`"\u005f_proto__"`, String.raw`"__prot\u006F__"`];
const prototypes = ambiguous(
  prototypeKeys.flatMap((key) =>
    ['{"polluted":1}', 'null', '"x"', '[]'].flatMap((value) => [
      `{${key}:${value}}`,
      `{"a":1,${key}:${value}}`,
      `{"a":{${key}:${value}}}`,
      `{"a":[{"b":[{${key}:${value}}]}]}`,
    ]),
  ),
);
const duplicates = ambiguous(
  [
    ['"a"', '"a"'],
    ['"a"', String.raw`"\u0061"`],
    ['"é"', String.raw`"\u00e9"`],
    ['"😀"', String.raw`"\ud83d\ude00"`],
    ['"/"', String.raw`"\/"`],
    ['""', '""'],
    ['"constructor"', '"constructor"'],
  ].flatMap(([key, again]) => [
    `{${key}:"1",${again}:"1"}`,
    `{${key}:"1","x":"2",${again}:"3"}`,
    `{"b":{${key}:1,${again}:2}}`,
    `{"b":[[{${key}:1,${again}:2}]]}`,
  ]),
);

export const fieldTables: Readonly<Record<string, FieldTable>> = {
  'a value of another type': {
    user_group_id: ofAnotherType,
    name: ofAnotherType,
    mapping: invalid(notOf('object', 'null')),
    properties: invalid(notOf('object', 'null')),
    current_token: ofAnotherType,
    grace_period_seconds: invalid(notOf('number')),
    token: ofAnotherType,
  },
  'an empty text and one that is too long': {
    user_group_id: texts(['', ...tooLongTexts]),
    name: texts(['', ...tooLongTexts]),
    current_token: texts(['']),
    token: texts(['']),
  },
  'a control character': {
    user_group_id: texts(controls.flatMap(atEveryPosition)),
    name: texts(controls.flatMap(atEveryPosition)),
  },
  'leading and trailing white space in an id': {
    user_group_id: texts(
      whiteSpace.flatMap((space) => [space, `${space}a`, `a${space}`, `${space}a${space}`]),
    ),
  },
  'a name of white space only': {
    name: texts(whiteSpace.flatMap((space) => [space, space.repeat(3), `\u3000${space}`, `${space} \u3000`])),
  },
  'a lone surrogate': {
    user_group_id: illFormedText,
    name: illFormedText,
    mapping: ambiguous(loneSurrogates.flatMap((text) => [`{"${text}":"x"}`, `{"k":"${text}"}`])),
    properties: ambiguous(
      loneSurrogates.flatMap((text) => [`{"${text}":1}`, `{"k":"${text}"}`, `{"k":[{"a":["${text}"]}]}`]),
    ),
    current_token: illFormedText,
    token: illFormedText,
  },
  'too many entries, and empty and too long keys': {
    mapping: [...tooManyEntries, ...badKeys],
    properties: [...tooManyEntries, ...badKeys],
  },
  'a mapping to an invalid data source': {
    mapping: [
      ...mapped(notOf('string', 'number', 'null')),
      ...mapped(['""', '1.5', '-0.1', '1e-3']),
      ...mapped(['9007199254740992', '-9007199254740992', '9007199254740993', '1e16', '1e400', '-1e400']),
      ...mapped(tooLongTexts.map((text) => JSON.stringify(text))),
    ],
  },
  'a number that is an integer only after rounding': {
    mapping: mapped(['1e-400', '1.00000000000000000001', '4503599627370496.3', '9007199254740991.1']),
    grace_period_seconds: invalid(['1e-400', '-1e-400', '60.00000000000000001', '2592000.0000000001']),
  },
  'a grace period out of range': {
    grace_period_seconds: invalid(['-1', '2592001', '0.5', '1e9', '9007199254740993', '1e400', '-1e400']),
  },
  'properties of more than 64 KiB': {
    properties: invalid([
      `{"a":"${'x'.repeat(65_529)}"}`,
      `{"a":"${'é'.repeat(32_768)}"}`,
      `{"a":"${'😀'.repeat(16_384)}"}`,
      `{"a":"${String.raw`\n`.repeat(32_768)}"}`,
      `{"a":[${'0,'.repeat(32_768)}0]}`,
      `{"a":1${'0'.repeat(65_536)}}`,
      `{"a":${entries(10_000)}}`,
      entries(100, `"${'x'.repeat(1_000)}"`),
    ]),
  },
  'more than 16 levels': {
    mapping: ambiguous(nested('1', 17)),
    properties: ambiguous([
      ...nested('1', 17),
      ...nested('{}', 16),
      ...nested('[]', 1_000),
      ...nested('', 20_000),
    ]),
  },
  'a duplicate key': { mapping: duplicates, properties: duplicates },
  'the key __proto__': { mapping: prototypes, properties: prototypes },
};

/** Fields in a merge patch, where null removes the entry. */
export const mappedToNull: FieldTable = { mapping: mapped(['null']) };

/** Combines the values with the operations that have the field, and with an existing and a missing group. */
export function casesOf(operations: readonly Operation[], table: FieldTable): BadCase[] {
  return operations.flatMap((operation) =>
    Object.entries(operation.members).flatMap(([field]) =>
      (table[field as Field] ?? []).flatMap((value) =>
        targetsOf(operation, field).map((target) => caseOf(target, field, value)),
      ),
    ),
  );
}

interface Target {
  name: string;
  operation: Operation;
}

function targetsOf(operation: Operation, field: string): Target[] {
  const present = { name: 'of an existing group', operation };
  if (operation.idIn === null || field === 'user_group_id') return [present];
  return [present, { name: 'of a missing group', operation: onGroup(operation, 'absent') }];
}

function caseOf({ name, operation }: Target, field: string, { text, code, at }: BadValue): BadCase {
  return {
    name: `${nameOf(operation)} ${name}, ${field} ${abridged(text)}`,
    request: requestOf(operation, { body: objectText({ ...operation.members, [field]: text }) }),
    status: 400,
    code,
    pointer: `/${field}${at}`,
  };
}

/**
 * Returns the text with invisible characters escaped, and with its length if it is cut, so that case names
 * are unique.
 */
function abridged(text: string): string {
  const shown = text.replace(/[^\x21-\x7e]/gu, (character) => `{${character.codePointAt(0)?.toString(16)}}`);
  return shown.length <= 80 ? shown : `${shown.slice(0, 60)}… of ${text.length}`;
}

/** Unknown field names, some of them similar to known ones. */
const unknownNames = [
  ...['', 'x'.repeat(1_000), 'user_group_id ', 'user_group_id\u200b', '\u0000', '😀'],
  ...words(
    '0 -1 a/b~c %75ser_group_id $ref * user-group-id user_groupid userGroupId User_Group_Id USER_GROUP_ID',
  ),
  ...words('constructor prototype toJSON toString valueOf then hasOwnProperty length __defineGetter__'),
  ...words('provided_id team_id id api_environment_tag environment workspace_id version success user_group'),
  ...words('Name names Mapping mappings property Token currentToken current_token[] gracePeriodSeconds'),
];

export function unknownFields(operations: readonly Operation[]): BadCase[] {
  return operations.flatMap((operation) =>
    unknownNames.flatMap((unknown) =>
      ['null', '"x"', '{"constructor":{"prototype":{"polluted":1}}}'].map((text) => ({
        name: `${nameOf(operation)} ${abridged(unknown)}: ${text}`,
        request: requestOf(operation, { body: objectText({ ...operation.members, [unknown]: text }) }),
        status: 400,
        code: 'unknown_field' as const,
        pointer: `/${unknown.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      })),
    ),
  );
}

/**
 * Returns fields of another operation, which are unknown fields. The error for a rotation with the body of a
 * get-or-create is tested elsewhere.
 */
export function fieldsOfOtherOperations(operations: readonly Operation[]): BadCase[] {
  return operations.flatMap((operation) =>
    operations.flatMap((other) =>
      Object.entries(other.members)
        .filter(([field]) => !(field in operation.members))
        .map(([field, text]) => ({
          name: `${nameOf(operation)} with ${field} of ${nameOf(other)}`,
          request: requestOf(operation, { body: objectText({ ...operation.members, [field]: text }) }),
          status: 400,
          code: 'unknown_field' as const,
          pointer: `/${field}`,
        })),
    ),
  );
}

/** Each accepted body without its required field, down to the empty object. */
export function missingFields(operations: readonly Operation[]): BadCase[] {
  return operations.flatMap((operation) => {
    const { required } = operation;
    if (required === null) return [];
    const { [required]: _, ...others } = operation.members;
    const bodies = [{}, ...Object.entries(others).map(([field, text]) => ({ [field]: text })), others];
    return [...new Set(bodies.map(objectText))].map((body) => ({
      name: `${nameOf(operation)} with only ${body}`,
      request: requestOf(operation, { body }),
      status: 400,
      code: 'invalid_request' as const,
      pointer: `/${required}`,
    }));
  });
}

function invalid(values: readonly string[], at = '', code: ProblemCode = 'invalid_request'): BadValue[] {
  return values.map((text) => ({ text, code, at }));
}
