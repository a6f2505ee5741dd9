import type { Mutant } from '../mutant.ts';

const template = 'src/domain/embed-token/template.ts';
const clause = 'src/domain/embed-token/sql-clause.ts';
const plainText = 'src/domain/embed-token/plain-text.ts';
const lightdash = 'src/domain/embed-token/lightdash.ts';
const mint = 'src/domain/embed-token/mint.ts';
const integration = 'src/domain/integration.ts';
const jwt = 'src/domain/signing-key/json-web-token.ts';
const keySet = 'src/domain/signing-key/key-set.ts';
const findByEmbedToken = 'src/operations/user-group/find-by-embed-token.ts';
const rotation = 'src/operations/signing-key/key-set.ts';
const embedToken = 'src/operations/embed-token/embed-token.ts';
const viewAs = 'src/operations/user-group/view-as.ts';

export const embedTokens: readonly Mutant[] = [
  {
    name: 'an empty value is part of a token',
    file: template,
    find: 'value === null || isEmpty(value) ? null : value',
    replace: 'value',
    tests: ['test/embed-token/embed-token.test.ts'],
  },
  {
    name: 'a list with an empty element is part of a token',
    file: template,
    find: ' || elements.some((element) => isEmpty(textOf(element)))',
    replace: '',
    tests: ['test/embed-token/embed-token.test.ts'],
  },
  {
    name: 'a quote in a value ends the literal of a clause',
    file: clause,
    find: `'\${text.replaceAll("'", "''")}'`,
    replace: "'${text}'",
    tests: ['test/domain/sql-clause.test.ts'],
  },
  {
    name: 'a backslash is written for a database that is not known',
    file: clause,
    find: "escapes === null && text.includes('\\\\')",
    replace: 'escapes === undefined',
    tests: ['test/domain/sql-clause.test.ts'],
  },
  {
    name: 'a value that Superset would evaluate is written into a clause',
    file: clause,
    find: 'TextRule[] = [CONTROL, TEMPLATE_SYNTAX, OUTER_SPACE]',
    replace: 'TextRule[] = [CONTROL, OUTER_SPACE]',
    tests: ['test/domain/sql-clause.test.ts'],
  },
  {
    name: 'a space at the end of a value is written into a clause',
    file: clause,
    find: 'TextRule[] = [CONTROL, TEMPLATE_SYNTAX, OUTER_SPACE]',
    replace: 'TextRule[] = [CONTROL, TEMPLATE_SYNTAX]',
    tests: ['test/domain/sql-clause.test.ts'],
  },
  {
    name: 'a quote ends the value of an attribute of Lightdash',
    file: plainText,
    find: 'quotedRules: readonly TextRule[] = [QUOTE, ',
    replace: 'quotedRules: readonly TextRule[] = [',
    tests: ['test/postgres/lightdash.test.ts'],
  },
  {
    name: 'a dollar sign in an attribute of Lightdash is read as a pattern',
    file: lightdash,
    find: "  { pattern: /\\$/, detail: 'must not have a dollar sign' },\n",
    replace: '',
    tests: ['test/postgres/lightdash.test.ts'],
  },
  {
    name: 'an attribute of Lightdash becomes that of another customer when comments are removed',
    file: lightdash,
    find: 'pattern: /--|',
    replace: 'pattern: /',
    tests: ['test/postgres/lightdash.test.ts'],
  },
  {
    name: 'a value is checked only before its full-width characters become ASCII',
    file: plainText,
    find: ' || pattern.test(ascii)',
    replace: '',
    tests: ['test/embed-token/embed-token.test.ts'],
  },
  {
    name: 'an integration without a restriction is stored',
    file: mint,
    find: 'isRestricted || integration.isUnrestricted',
    replace: 'true',
    tests: ['test/integration/integration.test.ts'],
  },
  {
    name: 'a constant counts as a restriction',
    file: template,
    find: "return source !== 'constant';",
    replace: 'return source !== undefined;',
    tests: ['test/integration/integration.test.ts'],
  },
  {
    name: 'a property leaves that is not listed',
    file: integration,
    find: "template.source === 'property' && !properties.includes(template.name)",
    replace: 'properties === undefined',
    tests: ['test/integration/integration.test.ts'],
  },
  {
    name: 'the algorithm of a token is that of its header',
    file: jwt,
    find: 'if (algorithm !== key.algorithm) return false;',
    replace: '',
    tests: ['test/user-group/resolve-embed-token.test.ts'],
    equivalent: 'the key verifies only signatures of its own kind: an ES256 key no HS256 and no RS256 ones',
  },
  {
    name: 'a critical extension of a token is ignored',
    file: jwt,
    find: "if (payload === null || 'crit' in header) return null;",
    replace: 'if (payload === null) return null;',
    tests: ['test/user-group/resolve-embed-token.test.ts'],
    equivalent: 'the signature covers the header, and the service signs no token with an extension',
  },
  {
    name: 'a token of an earlier version of the group resolves',
    file: findByEmbedToken,
    find: ' || userGroup.version !== claims.version',
    replace: '',
    tests: ['test/user-group/resolve-embed-token.test.ts'],
  },
  {
    name: 'a token of a deleted group resolves to a new one with its id',
    file: findByEmbedToken,
    find: 'userGroup.teamId !== claims.teamId || ',
    replace: '',
    tests: ['test/user-group/resolve-embed-token.test.ts'],
  },
  {
    name: 'an expired embed token resolves',
    file: findByEmbedToken,
    find: ' || claims.expiresAt <= now',
    replace: '',
    tests: ['test/user-group/resolve-embed-token.test.ts'],
  },
  {
    name: 'a new key signs when it is published',
    file: rotation,
    find: 'generateKeys(now + PUBLISHED_BEFORE_MS)',
    replace: 'generateKeys(now)',
    tests: ['test/signing-key/signing-key.test.ts'],
  },
  {
    name: 'key set: a request for a key set reads every document of the environment',
    file: rotation,
    find: "await store.read({ kind: 'findDocument', key: keySetKey(tenant) })",
    replace:
      "((await store.read({ kind: 'findConfig', of: tenant })).documents.find(({ kind }) => kind === 'key_set') ?? null)",
    tests: ['test/load/key-set.test.ts'],
  },
  {
    name: 'a key is removed when it stops signing',
    file: keySet,
    find: 'next.signsFrom + PUBLISHED_AFTER_MS',
    replace: 'next.signsFrom',
    tests: ['test/signing-key/signing-key.test.ts'],
  },
  {
    name: 'a key is published forever',
    file: keySet,
    find: 'return until === null || until > now;',
    replace: 'return until === null || until > 0;',
    tests: ['test/signing-key/signing-key.test.ts'],
  },
  {
    name: 'a rotation is not atomic',
    file: rotation,
    find: "replaced === null ? { ifNoneMatch: '*' } : { ifMatch: [documentTag(replaced)] }",
    replace: 'undefined',
    tests: ['test/signing-key/signing-key.test.ts'],
  },
  {
    name: 'a token is minted for a suspended group',
    file: embedToken,
    find: 'userGroup === null || userGroup.suspendedAt !== null',
    replace: 'userGroup === null',
    tests: ['test/embed-token/embed-token.test.ts'],
  },
  {
    name: 'the console shows claims for a suspended group',
    file: viewAs,
    find: 'userGroup.suspendedAt !== null',
    replace: 'false',
    tests: ['test/console/view-as.test.ts'],
  },
  {
    name: 'a test token is valid as long as others',
    file: viewAs,
    find: 'context.clock() + TEST_TOKEN_MS',
    replace: 'null',
    tests: ['test/console/view-as.test.ts'],
  },
  {
    name: 'the sample dashboard shows the rows of every customer',
    file: 'src/demo/sample-file.ts',
    find: 'WHERE customer_id = :customer_id',
    replace: 'WHERE :customer_id = :customer_id',
    tests: ['test/console/demo-pages.test.ts'],
  },
  {
    name: 'a data source chooses the file that the sample dashboard opens',
    file: 'src/demo/dashboard.ts',
    find: 'samples.find((sample) => sample === demo) ?? null',
    replace: 'demo as Sample',
    tests: ['test/console/demo-pages.test.ts'],
  },
];
