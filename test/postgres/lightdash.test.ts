// Embed tokens for Lightdash: PostgreSQL executes the filter of examples/lightdash with the minted
// attributes, and returns only the rows of the customer.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { embedTokenPayload, integrationBody } from '../../src/domain/embed-token/embed-token.ts';
import { GroupValues } from '../../src/domain/embed-token/template.ts';
import { parseStrictJson } from '../../src/domain/json/strict-json.ts';
import { type UserGroup, userGroupKey } from '../../src/domain/user-group/user-group.ts';
import { Problem } from '../../src/problem.ts';
import { postgres } from '../support/database.ts';
import { textWith } from '../support/domain/text-with.ts';
import { conditionOf, escapings, type UserAttributes } from '../support/embed-token/lightdash.ts';
import { codeBlocks, pageText } from '../support/page.ts';
import { SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const PAGE = pageText('examples/lightdash/README.md');
const [, FILTER = ''] = /sql_filter: (.*)/.exec(PAGE)!;
const VALUES = 2_000;
const PER_STATEMENT = 500;

const parse = (value: unknown) => parseStrictJson(Buffer.from(JSON.stringify(value)), 16);
const { integration } = integrationBody.read(Buffer.from(codeBlocks(PAGE, 'json')[0]!));

interface Customer {
  id: string;
  region: unknown;
}

/** Returns the attributes of a token; null if the token is refused. */
function mint({ id, region }: Customer, viewer: string | null = null): UserAttributes | null {
  const properties = parse({ region: { region } }).members.get('region')!;
  const userGroup = {
    ...userGroupKey({ workspaceId: 1, environment: 'Customer' }, id),
    name: 'N',
    mapping: null,
    properties,
  } as UserGroup;
  const values = new GroupValues(userGroup);
  const resource = JSON.stringify({ dashboardUuid: 'd' }) as typeof properties;
  try {
    const payload = embedTokenPayload({
      narrow: null,
      integration,
      values,
      viewer,
      resource,
      issuer: null,
      issuedAt: 0,
      expiresAt: 300,
    });
    return JSON.parse(payload).userAttributes;
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'claim_invalid', `${error}`);
    return null;
  }
}

/** Values with which a customer got rows of others, under at least one of the ways of escaping. */
const attacks: readonly Customer[] = [
  { id: "x') OR '1' IN ('1", region: 'EMEA' },
  { id: 'other', region: "x') OR '1' IN ('1" },
  { id: 'other', region: "x$') OR 1=1) --" },
  { id: 'other', region: ['EMEA', "x$') OR 1=1) --"] },
  // The second placeholder is replaced where the first value contains it, and its quotes end the first value.
  { id: `x\${lightdash.attributes.region}`, region: ') OR 1=1) --' },
  { id: 'acme\u200b', region: 'EMEA' },
  { id: 'ac\ufeffme', region: 'EMEA' },
  { id: 'acme--x', region: 'EMEA' },
  { id: 'ac/**/me', region: 'EMEA' },
  { id: 'o\u2019brien', region: 'EMEA' },
  { id: 'zoe\u0308', region: 'EMEA' },
  { id: 'acme  inc', region: 'EMEA' },
  { id: 'acme\u00a0inc', region: 'EMEA' },
  { id: 'acme\u3000inc', region: 'EMEA' },
  { id: 'acme', region: 'EMEA ' },
  { id: 'other', region: ["EMEA') OR ('1'='1"] },
];
const victims = ['acme', 'acme inc', "o'brien", 'zo\u00eb'];

const ordinary = [
  'acme-7',
  'Müller & Söhne GmbH',
  'Ærøskøbing',
  'a.b.c',
  'North America (East)',
  '株式会社サンプル',
  '株式会社「例」',
  'Ελλάδα',
  'Ёлка, Москва',
  'شركة',
  'anna.smith+eu@example.com',
  '10%',
  'a_b',
  'a:b',
  '?',
  'a;b',
  'urn:customer/7#x',
  '🙂',
  '0001',
  '-1',
];

const pieces = [
  ...[
    "'",
    "''",
    "\\'",
    '\\',
    '"',
    '`',
    '´',
    '--',
    '-',
    '/*',
    '*/',
    ';',
    '$$',
    "$'",
    '$`',
    '$&',
    '$1',
    '$',
    '%',
  ],
  ...['(', ')', "')", ' or 1=1 ', ' union select ', 'E', 'U&', '{', '}', '{{', '{%', '${', '#', '||', 'acme'],
  ...['\u2018', '\u2019', '\u02bc', '\u2032', '\uff07', '\uff02', '\uff3c', '\uff04', '\ufe63', '\u200b'],
  ...[
    '\ufeff',
    '\u0308',
    '\u00a0',
    '\u2028',
    '\u0085',
    '\0',
    '\n',
    '\t',
    ' ',
    'ä',
    '例',
    '\u{1f642}',
    'x',
    '0',
  ],
  ...['lightdash.attributes.region', 'ld.attr.customer', 'TABLE', 'ld.user.email'].map(
    (name) => `\${${name}}`,
  ),
];
const text = textWith(pieces);
const region = fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 3 }), fc.integer(), fc.boolean());

describe('With the filter of examples/lightdash, PostgreSQL returns', () => {
  const stack = suiteStack();
  let client: SqlConnection;
  before(async () => {
    const database = stack.use(await postgres.create());
    client = stack.use(await SqlConnection.open(database.url));
    await client.query(
      'create table orders (id int primary key, customer_id text collate "C", region text collate "C")',
    );
    // Without it, each statement of a generated value reads the rows of all of them.
    await client.query('create index on orders (customer_id)');
  });

  /** Stores one row for each customer and region. */
  async function store(customers: readonly Customer[]): Promise<{ owner: string; region: string }[]> {
    const rows = customers
      .flatMap(({ id, region }) => [region].flat().map((each) => ({ owner: id, region: String(each) })))
      .filter((row) => !`${row.owner}${row.region}`.includes('\0'));
    await client.query('truncate orders');
    await client.query('insert into orders select * from unnest($1::int[], $2::text[], $3::text[])', [
      rows.map((_, index) => index),
      rows.map(({ owner }) => owner),
      rows.map(({ region }) => region),
    ]);
    return rows;
  }

  it('the rows of others for each known attack, if it were minted', async () => {
    await store(victims.map((id) => ({ id, region: 'EMEA' })));
    for (const { id, region } of attacks) {
      const attributes = { customer: id, region: region as string };
      let found = 0;
      for (const escaping of escapings) {
        const condition = conditionOf(FILTER, attributes, escaping);
        // A broken statement returns nothing.
        const query = client.query(`select id from orders where ${condition}`);
        found += (await query.catch(() => ({ rows: [] }))).rows.length;
      }
      assert.ok(found > 0, JSON.stringify(attributes));
    }
  });

  it('nothing for them, because none is minted', () => {
    for (const attack of attacks) assert.equal(mint(attack), null, JSON.stringify(attack));
    for (const viewer of ["o'brien@example.com", "'; drop table orders; --", '\\'])
      assert.equal(mint({ id: 'acme', region: 'EMEA' }, viewer), null, viewer);
  });

  it('exactly the rows of a customer with an ordinary name', async () => {
    const customers = ordinary.map((id, index) => ({ id, region: [id, ordinary.at(index - 1)] }));
    await assertOwnRows(customers);
    for (const customer of customers) assert.ok(mint(customer), customer.id);
  });

  it(`exactly the rows of the customer, for whatever is minted of ${VALUES} generated values`, async () => {
    const seed = Date.now() % 1_000_000;
    const customer = fc.record({ id: fc.oneof(text, fc.constantFrom(...ordinary)), region });
    const sample = fc.sample(customer, { numRuns: VALUES, seed });
    const known = [...victims, ...ordinary].map((id) => ({ id, region: 'EMEA' }));
    const minted = await assertOwnRows([...attacks, ...known, ...sample], `seed ${seed}`);
    assert.ok(minted > VALUES / 20, `${minted} are minted (seed ${seed})`);
  });

  /** Asserts that each token shows only the rows of its customer; returns how many customers have a token. */
  async function assertOwnRows(customers: readonly Customer[], message = ''): Promise<number> {
    const rows = await store(customers);
    const minted = customers.flatMap((customer) => {
      const attributes = mint(customer);
      return attributes === null ? [] : [{ customer, attributes }];
    });
    const own = new Map(Map.groupBy(rows.entries(), ([, { owner }]) => owner));
    for (const escaping of escapings) {
      for (let start = 0; start < minted.length; start += PER_STATEMENT) {
        const batch = minted.slice(start, start + PER_STATEMENT);
        const selects = batch.map(({ attributes }, index) => {
          return `select ${index}, id from orders where ${conditionOf(FILTER, attributes, escaping)}`;
        });
        const { rows: found } = await client.query({ text: selects.join('\nunion all\n'), rowMode: 'array' });
        const expected = batch.flatMap(({ customer, attributes }, index) =>
          own
            .get(customer.id)!
            .filter(([, row]) => [attributes.region].flat().includes(row.region))
            .map(([id]) => [index, id]),
        );
        const order = ([a, x]: number[], [b, y]: number[]) => a! - b! || x! - y!;
        assert.deepEqual(found.toSorted(order), expected.toSorted(order), `${escaping.name}, ${message}`);
      }
    }
    return minted.length;
  }
});
