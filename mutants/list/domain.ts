import type { Mutant } from '../mutant.ts';

const apiToken = 'src/domain/api-token.ts';
const body = 'src/domain/request-body.ts';
const catalogue = 'src/domain/catalogue.ts';
const cursor = 'src/domain/cursor.ts';
const eventFit = 'src/domain/event-fit.ts';
const eventQuota = 'src/domain/event-quota.ts';
const filter = 'src/domain/user-group-filter.ts';
const instant = 'src/domain/instant.ts';
const field = 'src/domain/field.ts';
const jsonTree = 'src/domain/json-tree.ts';
const keyRing = 'src/domain/key-ring.ts';
const listCursor = 'src/domain/list-cursor.ts';
const mergePatch = 'src/domain/merge-patch.ts';
const precondition = 'src/domain/precondition.ts';
const random = 'src/domain/random-bytes.ts';
const secret = 'src/domain/secret.ts';
const strictJson = 'src/domain/strict-json.ts';
const token = 'src/domain/token.ts';
const userGroup = 'src/domain/user-group.ts';

export const domain: readonly Mutant[] = [
  {
    name: 'an event stores values beyond its bound',
    file: eventFit,
    find: 'const isLeft = bytes <= this.#left;',
    replace: 'const isLeft = bytes > 0;',
    tests: ['test/domain/event-changes.test.ts'],
  },
  {
    name: 'the quota of an environment does not reduce events',
    file: eventQuota,
    find: 'if (used > this.#bytesPerDay) return false;',
    replace: '',
    tests: ['test/event-quota.test.ts'],
  },
  {
    name: 'the checksum of a user group token is not verified',
    file: token,
    find: '!isUserGroupToken(text) || !hasChecksum(text)',
    replace: '!isUserGroupToken(text)',
    tests: ['test/domain/token.test.ts'],
  },
  {
    name: 'the checksum of an API token is not verified',
    file: token,
    find: 'isApiToken(text) && hasChecksum(text) ?',
    replace: 'isApiToken(text) ?',
    tests: ['test/domain/token.test.ts'],
  },
  {
    name: 'two digests of the same length count as equal',
    file: token,
    find: "a.length === b.length && timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'))",
    replace: 'a.length === b.length',
    tests: ['test/domain/token.test.ts'],
  },
  {
    name: 'random bytes are used twice',
    file: random,
    find: 'position += size;',
    replace: '',
    tests: ['test/domain/token.test.ts'],
  },
  {
    name: 'an API token is still valid at its expiry time',
    file: apiToken,
    find: 'token.expiresAt <= now',
    replace: 'token.expiresAt < now',
    tests: ['test/authentication.test.ts'],
  },
  {
    name: 'a revoked API token stays active',
    file: apiToken,
    find: "if (token.revokedAt !== null) return 'revoked';",
    replace: '',
    tests: ['test/authentication.test.ts'],
  },
  {
    name: 'the version tag lacks the team_id, so a recreated group repeats one',
    file: userGroup,
    find: 'return `${teamId}-${version}` as VersionTag;',
    replace: 'return `1-${version}` as VersionTag;',
    tests: ['test/version.test.ts'],
  },
  {
    name: 'an entity tag that contains a version and a comma counts as a version',
    file: userGroup,
    find: 'return VERSION_TAG.test(text) ? (text as VersionTag) : null;',
    replace: 'return text as VersionTag;',
    tests: ['test/version.test.ts'],
  },
  {
    name: 'If-Match is not evaluated',
    file: precondition,
    find: "if (ifMatch !== undefined && !includes(ifMatch, tag)) return 'ifMatch';",
    replace: '',
    tests: ['test/precondition.test.ts'],
  },
  {
    name: 'If-None-Match is not evaluated',
    file: precondition,
    find: "if (ifNoneMatch !== undefined && includes(ifNoneMatch, tag)) return 'ifNoneMatch';",
    replace: '',
    tests: ['test/precondition.test.ts'],
  },
  {
    name: 'prefetch: a group of another workspace counts as the same',
    file: userGroup,
    find: 'a.providedId === b.providedId && a.workspaceId === b.workspaceId && a.environment === b.environment',
    replace: 'a.providedId === b.providedId && a.environment === b.environment',
    tests: ['test/postgres/round-trip.test.ts'],
  },
  {
    name: 'a byte order mark is accepted',
    file: strictJson,
    find: 'if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {',
    replace: 'if (false) {',
    tests: ['test/domain/strict-json.test.ts'],
  },
  {
    name: 'a duplicate key is accepted',
    file: strictJson,
    find: 'if (Object.hasOwn(object, key)) this.#fail(',
    replace: 'if (false) this.#fail(',
    tests: ['test/domain/strict-json.test.ts'],
  },
  {
    name: 'the key __proto__ is accepted',
    file: strictJson,
    find: "if (key === '__proto__') this.#fail('must not be a key');",
    replace: '',
    tests: ['test/domain/strict-json.test.ts'],
  },
  {
    name: 'a lone surrogate is accepted',
    file: strictJson,
    find: 'if (!decoded.isWellFormed()) this.#fail(',
    replace: 'if (false) this.#fail(',
    tests: ['test/domain/strict-json.test.ts'],
  },
  {
    name: 'invalid UTF-8 is replaced instead of rejected',
    file: strictJson,
    find: 'if (this.#position > this.#invalidFrom) this.#fail(',
    replace: 'if (false) this.#fail(',
    tests: ['test/domain/strict-json.test.ts'],
  },
  {
    name: 'text after the JSON value is ignored',
    file: strictJson,
    find: 'if (this.#position < this.#source.length) this.#fail(',
    replace: 'if (false) this.#fail(',
    tests: ['test/domain/strict-json.test.ts'],
  },
  {
    name: 'one level of nesting more than the limit is accepted',
    file: strictJson,
    find: 'if (++this.#depth > this.#maxDepth)',
    replace: 'if (++this.#depth > this.#maxDepth + 1)',
    tests: ['test/domain/strict-json.test.ts'],
  },
  {
    name: 'a number that rounds to an integer counts as one',
    file: strictJson,
    find: 'return Number.isInteger(value) && !INTEGER.test(text) ? Number.NaN : value;',
    replace: 'return value;',
    tests: ['test/domain/strict-json.test.ts'],
  },
  {
    name: 'numbers are compared by value, so 1.0 equals 1',
    file: jsonTree,
    find: 'b === null || a.length !== b.length) return false;\n  return sameTree(treeOf(a), treeOf(b));',
    replace:
      "b === null) return false;\n  return process.getBuiltinModule('node:util').isDeepStrictEqual(JSON.parse(a), JSON.parse(b));",
    tests: ['test/domain/strict-json.test.ts'],
  },
  {
    name: 'properties may have 17 levels',
    file: body,
    find: 'field.limits.propertiesLevels + 1',
    replace: 'field.limits.propertiesLevels + 2',
    tests: ['test/field.test.ts'],
  },
  {
    name: 'properties of exactly 64 KiB are rejected',
    file: body,
    find: 'if (size <= field.limits.propertiesBytes) return;',
    replace: 'if (size < field.limits.propertiesBytes) return;',
    tests: ['test/field.test.ts'],
  },
  {
    name: 'a text may have 256 code points',
    file: field,
    find: 'textCodePoints: 255,',
    replace: 'textCodePoints: 256,',
    tests: ['test/field.test.ts'],
  },
  {
    name: 'a mapping may have 101 entries',
    file: field,
    find: 'mapEntries: 100,',
    replace: 'mapEntries: 101,',
    tests: ['test/field.test.ts'],
  },
  {
    name: 'the grace period may be one second longer than the limit',
    file: field,
    find: 'gracePeriodSeconds: 2_592_000,',
    replace: 'gracePeriodSeconds: 2_592_001,',
    tests: ['test/rotate.test.ts'],
  },
  {
    name: 'a page may have 1 001 groups',
    file: field,
    find: 'pageGroups: 1_000,',
    replace: 'pageGroups: 1_001,',
    tests: ['test/bad-input/url.test.ts'],
  },
  {
    name: 'an imported token may have 201 characters',
    file: field,
    find: 'tokenCharacters: { least: 16, most: 200 },',
    replace: 'tokenCharacters: { least: 16, most: 201 },',
    tests: ['test/imported-token.test.ts'],
  },
  {
    name: 'a name may have control characters',
    file: field,
    find: 'pattern: `^[${SPACE}]*[^${CONTROL}${SPACE}][^${CONTROL}]*$`,\n  not: noControl,',
    replace: 'pattern: `[^${CONTROL}${SPACE}]`,',
    tests: ['test/field.test.ts'],
  },
  {
    name: 'an unknown field is ignored',
    file: body,
    find: 'required: definition.required,\n    additionalProperties: false,',
    replace: 'required: definition.required,',
    tests: ['test/field.test.ts'],
  },
  {
    name: 'merge patch: null stores null instead of removing the member',
    file: mergePatch,
    find: "if (change === 'null') continue;",
    replace: '',
    tests: ['test/domain/merge-patch.test.ts'],
  },
  {
    name: 'merge patch: null for a member that does not exist is stored',
    file: mergePatch,
    find: "if (value === 'null' || members.has(key)) continue;",
    replace: 'if (members.has(key)) continue;',
    tests: ['test/domain/merge-patch.test.ts'],
  },
  {
    name: 'merge patch: a result of exactly 100 entries is rejected',
    file: mergePatch,
    find: 'if (merge.entries > limits.mapEntries) {',
    replace: 'if (merge.entries >= limits.mapEntries) {',
    tests: ['test/patch.test.ts'],
  },
  {
    name: 'merge patch: the result may exceed 64 KiB',
    file: mergePatch,
    find: 'checkBytes(merged);',
    replace: '',
    tests: ['test/patch.test.ts'],
  },
  {
    name: 'a changed cursor is accepted',
    file: listCursor,
    find: 'return encodeCursor(list, position) === cursor ? position : null;',
    replace: 'return position;',
    tests: ['test/domain/cursor.test.ts'],
  },
  {
    name: 'a cursor of a list with another filter is accepted',
    file: cursor,
    find: ', ...(filter ? [filter] : [])',
    replace: '',
    tests: ['test/list-filter.test.ts'],
  },
  {
    name: 'a filter compares only lower case',
    file: filter,
    find: 'return text.toLowerCase().toUpperCase();',
    replace: 'return text.toLowerCase();',
    tests: ['test/list-filter.test.ts'],
  },
  {
    name: 'a filter by last use leaves out groups that were never seen',
    file: filter,
    find: 'lastSeenAt === null || lastSeenAt < seenBefore',
    replace: 'lastSeenAt !== null && lastSeenAt < seenBefore',
    tests: ['test/list-filter.test.ts'],
  },
  {
    name: 'a filter by data source does not find numbers',
    file: filter,
    find: 'String(value) === dataSource',
    replace: 'value === dataSource',
    tests: ['test/list-filter.test.ts'],
  },
  {
    name: 'a timestamp may name 30 February',
    file: instant,
    find: 'date.getUTCMonth() !== Number(month) - 1 ||',
    replace: '',
    tests: ['test/list-filter.test.ts'],
  },
  {
    name: 'a cursor of another workspace is accepted',
    file: cursor,
    find: 'return [workspaceId, environment, search,',
    replace: 'return [environment, search,',
    tests: ['test/list.test.ts'],
  },
  {
    name: 'the next page repeats the last group',
    file: cursor,
    find: 'const next = providedId + NEXT;',
    replace: 'const next = providedId;',
    tests: ['test/list.test.ts'],
  },
  {
    name: 'the last key of the ring is the active one',
    file: keyRing,
    find: 'const active = keys[0];',
    replace: 'const active = keys.at(-1);',
    tests: ['test/domain/key-ring.test.ts'],
  },
  {
    name: 'a token sealed under an unknown key is opened with the active one',
    file: keyRing,
    find: 'const key = this.#keys.get(sealed.keyId);',
    replace: 'const key = this.#keys.get(sealed.keyId) ?? this.#active;',
    tests: ['test/domain/key-ring.test.ts'],
  },
  {
    name: 'a ciphertext opens in another environment',
    file: keyRing,
    find: '`${owner.workspaceId}/${owner.environment}/',
    replace: '`${owner.workspaceId}/',
    tests: ['test/domain/key-ring.test.ts'],
  },
  {
    name: 'the ciphertext of a replaced token opens',
    file: keyRing,
    find: '/${owner.tokenDigest}/',
    replace: '/',
    tests: ['test/domain/key-ring.test.ts'],
  },
  {
    name: 'a secret prints itself as JSON',
    file: secret,
    find: 'toJSON(): string {\n    return REDACTED;',
    replace: 'toJSON(): string {\n    return this.#text;',
    tests: ['test/domain/secret.test.ts'],
  },
  {
    name: 'a connection string with a password is stored in a data source',
    file: 'src/domain/credential.ts',
    find: 'if (TEXTS.some((pattern) => pattern.test(decoded))) return true;',
    replace: '',
    tests: ['test/catalogue.test.ts'],
  },
  {
    name: 'catalogue: a schema without a default may be missing in the mapping',
    file: catalogue,
    find: ' && this.#withoutDefault.every((id) => dataSources.has(id))',
    replace: '',
    tests: ['test/forward-auth.test.ts'],
  },
];
