// A real PostgreSQL executes the conditions of row-level security rules: each selects exactly the row of its
// value.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { sqlClause } from '../../src/domain/embed-token/sql-clause.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { Problem } from '../../src/problem.ts';
import { postgres } from '../support/database.ts';
import { textWith } from '../support/domain/text-with.ts';
import { SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const VALUES = 100_000;
const PER_STATEMENT = 1_000;
const pieces = [
  "'",
  "''",
  "\\'",
  '\\',
  '"',
  '`',
  '--',
  '/*',
  '*/',
  ';',
  '$$',
  '$1',
  '%',
  '%s',
  ':a',
  '?',
  '(',
  ')',
  ' or 1 = 1 ',
  ' union select ',
  'E',
  'U&',
  '{',
  '}',
  '{ {',
  '\u2019',
  '\u02bc',
  '\uff07',
  '\u00a0',
  '\u200b',
  '\ufeff',
  '\u{1f642}',
  'a',
  'A',
  'ä',
  'a\u0308',
  '0',
  ' ',
  '\t',
  '\n',
  '\u0085',
  '{{',
  '{%',
  '{#',
];
const value = textWith(pieces);
/** Returns whether a text must be refused, independently of the implementation. */
const refused = (text: string) =>
  text.includes('{{') ||
  text.includes('{%') ||
  text.includes('{#') ||
  text.includes('${') ||
  text.trim() !== text ||
  /\p{Cc}/u.test(text);

describe('Conditions of row-level security rules on PostgreSQL', () => {
  const stack = suiteStack();
  let client: SqlConnection;
  before(async () => {
    const database = stack.use(await postgres.create());
    client = stack.use(await SqlConnection.open(database.url));
    await client.query('create table rows (id int primary key, customer text collate "C")');
  });

  it(`select exactly the one row of each of ${VALUES} values`, async () => {
    const seed = Date.now() % 1_000_000;
    const all = new Set<string>();
    for (let round = 0; all.size < VALUES; round++) {
      for (const text of fc.sample(value, { numRuns: 20_000, seed: seed + round })) all.add(text);
    }
    const values = [...all].slice(0, VALUES);
    const clauses = values.flatMap((text, id) => {
      try {
        const column = { column: 'customer', type: 'text', escapes: 'standard' } as const;
        const clause = sqlClause(column, JSON.stringify(text) as JsonText, []);
        assert.equal(refused(text), false, JSON.stringify(text));
        return { id, clause };
      } catch (error) {
        assert.ok(error instanceof Problem && refused(text), JSON.stringify(text));
        return [];
      }
    });
    assert.ok(clauses.length > VALUES / 4, `${clauses.length} of ${VALUES} are quoted (seed ${seed})`);
    // PostgreSQL cannot store NUL; a value that contains it is refused in any case.
    const rows = values.map((text, id) => ({ id, text })).filter(({ text }) => !text.includes('\0'));
    await client.query('insert into rows select * from unnest($1::int[], $2::text[])', [
      rows.map(({ id }) => id),
      rows.map(({ text }) => text),
    ]);
    await client.query('create index on rows (customer)');
    await client.query('analyze rows');
    for (let start = 0; start < clauses.length; start += PER_STATEMENT) {
      const batch = clauses.slice(start, start + PER_STATEMENT);
      const selects = batch.map(({ clause, id }) => `select ${id} as wanted, id from rows where (${clause})`);
      const { rows: found } = await client.query({ text: selects.join('\nunion all\n'), rowMode: 'array' });
      assert.deepEqual(
        found.toSorted(([a], [b]) => a - b),
        batch.map(({ id }) => [id, id]),
        `seed ${seed}`,
      );
    }
  });
});
