// Fields that several requests share or that need the patterns below: one JSON Schema each, used for validation and
// in the API description.
// Lengths count code points.

import type { Schema } from './schema-value.ts';

/** Every limit, in the unit of its name. */
export const limits = {
  bodyBytes: 256 * 1024,
  /** Maximum of a line of an import: more than the longest line of an export. */
  lineBytes: 512 * 1024,
  propertiesBytes: 64 * 1024,
  propertiesLevels: 16,
  mapEntries: 100,
  textCodePoints: 255,
  tokenCharacters: { least: 16, most: 200 },
  gracePeriodSeconds: 2_592_000,
  /** 100 years. */
  apiTokenSeconds: 3_153_600_000,
  /** API tokens created over HTTP in one workspace and environment that are neither revoked nor expired. */
  activeApiTokens: 1_000,
  pageEntries: 1_000,
  /** Maximum of the mappings and properties on one page of a list, which is written in one turn of the event loop. */
  pageBytes: 256 * 1024,
} as const;

/** A number that the service assigns. */
export const assignedNumber = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

export const instant = { type: 'string', format: 'date-time' } as const;

export const text = { type: 'string', minLength: 1, maxLength: limits.textCodePoints } as const;

// Patterns are published, so regex engines must interpret them alike, with or without JavaScript's flag u: no \p{…},
// which requires that flag, no \s, which differs between engines, no lookaround, which RE2 and Rust lack. Those with
// characters beyond ASCII are in `not`, which generators ignore: Ruby and PHP cannot compile them.
/** C0, DEL and C1, inside a character class. */
const CONTROL = String.raw`\x00-\x1F\x7F-\x9F`;
/** White space that is not a control character, inside a character class. */
const SPACE = String.raw`\x20\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF`;

export const userGroupId = {
  ...text,
  not: { type: 'string', pattern: `^[${SPACE}]|[${SPACE}]$|[${CONTROL}]` },
  'x-pattern-detail': 'must not have control characters, or white space at either end',
  description: "The caller's own id of the user group. Compared byte for byte.",
} as const satisfies Schema;

export const name = {
  ...text,
  not: { type: 'string', pattern: `^[${SPACE}]+$|[${CONTROL}]` },
  'x-pattern-detail': 'must not have control characters, or only white space',
  description: 'Name of the user group. Need not be unique.',
} as const satisfies Schema;

export const nullableDataSourceReference = {
  type: ['string', 'integer', 'null'],
  minLength: 1,
  maxLength: limits.textCodePoints,
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

export const mapping = {
  type: ['object', 'null'],
  maxProperties: limits.mapEntries,
  propertyNames: text,
  additionalProperties: {
    ...nullableDataSourceReference,
    title: 'DataSourceReference',
    type: ['string', 'integer'],
  },
  description: "Schema id to data source: the data source's id, or the caller's own id of it.",
} as const satisfies Schema;

export const properties = {
  type: ['object', 'null'],
  maxProperties: limits.mapEntries,
  propertyNames: text,
  // The default; without it, type generators would produce an empty object.
  additionalProperties: true,
  'x-max-bytes': limits.propertiesBytes,
  'x-max-levels': limits.propertiesLevels,
  description: `Properties of the user group, which dashboards read as variables. At most ${limits.propertiesBytes / 1024} KiB and ${limits.propertiesLevels} levels.`,
} as const satisfies Schema;

export const token = {
  type: 'string',
  minLength: 1,
  description: 'A user group token.',
} as const satisfies Schema;

/** The token of an imported group. */
export const importedToken = {
  type: 'string',
  pattern: `^[!-~]{${limits.tokenCharacters.least},${limits.tokenCharacters.most}}$`,
  'x-pattern-detail': `must have ${limits.tokenCharacters.least} to ${limits.tokenCharacters.most} visible ASCII characters`,
  description: 'The existing user group token of the group.',
} as const satisfies Schema;

export const gracePeriodSeconds = {
  type: 'integer',
  minimum: 0,
  maximum: limits.gracePeriodSeconds,
  description: 'How long the replaced token still resolves. 0: not at all.',
} as const satisfies Schema;

export const apiTokenGracePeriodSeconds = {
  ...gracePeriodSeconds,
  default: 0,
  description: 'How long the replaced text still authenticates. 0: rejected from the next request on.',
} as const satisfies Schema;

export const pageLimit = {
  type: 'integer',
  minimum: 1,
  maximum: limits.pageEntries,
  default: 50,
  description: `Maximum number of user groups per page. A page ends early after ${limits.pageBytes / 1024} KiB of mappings and properties.`,
} as const satisfies Schema;

export const cursor = {
  type: 'string',
  minLength: 1,
  description: 'The `next_cursor` of the previous page. Absent for the first page.',
} as const satisfies Schema;

export const search = {
  ...text,
  not: { type: 'string', pattern: `[${CONTROL}]` },
  'x-pattern-detail': 'must not have control characters',
  description:
    'Only user groups whose id or name starts with this text, byte for byte; with `match=contains`, contains it, ' +
    'regardless of case, accents, typographic quotes and dashes, invisible characters and Unicode normalization. With `match=contains`, a text such as `plan: gold` also finds the value of a property, and `*: gold` that of any.',
} as const satisfies Schema;
