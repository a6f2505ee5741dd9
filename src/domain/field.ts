// The fields of requests: one JSON Schema each, which validates and from which the description of the API is
// made. Lengths count code points. What no schema can say (a size in bytes) is checked beside them in `body.ts`.

/** Limits in one place, in the units of their names. */
export const limits = {
  bodyBytes: 256 * 1024,
  /** Of a line of an import: more than the longest one that an export can have. */
  lineBytes: 512 * 1024,
  propertiesBytes: 64 * 1024,
  propertiesLevels: 16,
  mapEntries: 100,
  textCodePoints: 255,
  tokenCharacters: { least: 16, most: 200 },
  gracePeriodSeconds: 2_592_000,
  pageGroups: 1_000,
  /** Of the mappings and properties on one page of a list. */
  pageBytes: 1024 * 1024,
} as const;

/** A schema, with the words for a caller whose value does not match `pattern`. */
interface FieldSchema {
  readonly type: string | readonly string[];
  readonly description: string;
  readonly 'x-pattern-detail'?: string;
  readonly [keyword: string]: unknown;
}

const text = { type: 'string', minLength: 1, maxLength: limits.textCodePoints } as const;

export const userGroupId = {
  ...text,
  pattern: String.raw`^(?!\s)\P{Cc}*(?<!\s)$`,
  'x-pattern-detail': 'must have no control characters and no white space at either end',
  description: "The caller's own id of the user group. Compared byte for byte.",
} as const satisfies FieldSchema;

export const name = {
  ...text,
  pattern: String.raw`^(?=\s*\S)\P{Cc}*$`,
  'x-pattern-detail': 'must have no control characters and not only white space',
  description: 'Name of the user group. Need not be unique.',
} as const satisfies FieldSchema;

export const mapping = {
  type: ['object', 'null'],
  maxProperties: limits.mapEntries,
  propertyNames: text,
  additionalProperties: {
    type: ['string', 'integer'],
    minLength: 1,
    maxLength: limits.textCodePoints,
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
  },
  description: "Schema id to data source: the data source's id, or the caller's own id of it.",
} as const satisfies FieldSchema;

/** In a merge patch null removes an entry. */
export const mappingPatch = {
  ...mapping,
  additionalProperties: { ...mapping.additionalProperties, type: ['string', 'integer', 'null'] },
} as const satisfies FieldSchema;

export const properties = {
  type: ['object', 'null'],
  maxProperties: limits.mapEntries,
  propertyNames: text,
  // The default, but generators of types would take an object that says nothing for one that is empty.
  additionalProperties: true,
  'x-max-bytes': limits.propertiesBytes,
  'x-max-levels': limits.propertiesLevels,
  description: `Properties of the user group, which dashboards read as variables. At most ${limits.propertiesBytes / 1024} KiB and ${limits.propertiesLevels} levels.`,
} as const satisfies FieldSchema;

export const token = {
  type: 'string',
  minLength: 1,
  description: 'A user group token.',
} as const satisfies FieldSchema;

/** A token that a group brings from elsewhere. */
export const importedToken = {
  type: 'string',
  pattern: `^[!-~]{${limits.tokenCharacters.least},${limits.tokenCharacters.most}}$`,
  'x-pattern-detail': `must have ${limits.tokenCharacters.least} to ${limits.tokenCharacters.most} visible ASCII characters`,
  description: 'The user group token that the group has already.',
} as const satisfies FieldSchema;

export const gracePeriodSeconds = {
  type: 'integer',
  minimum: 0,
  maximum: limits.gracePeriodSeconds,
  description: 'How long the replaced token goes on resolving. 0: dead at once.',
} as const satisfies FieldSchema;

export const pageLimit = {
  type: 'integer',
  minimum: 1,
  maximum: limits.pageGroups,
  default: 50,
  description: `How many user groups a page has at most. A page ends earlier after ${limits.pageBytes / 1024 ** 2} MiB of mappings and properties.`,
} as const satisfies FieldSchema;

export const cursor = {
  type: 'string',
  minLength: 1,
  description: 'The `next_cursor` of the page before, for the same search. Absent for the first page.',
} as const satisfies FieldSchema;

export const search = {
  ...text,
  pattern: String.raw`^\P{Cc}*$`,
  'x-pattern-detail': 'must have no control characters',
  description: 'Only user groups whose id or name begins with this text, byte for byte.',
} as const satisfies FieldSchema;
