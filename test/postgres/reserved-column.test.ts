// Names that PostgreSQL does not accept as a column, or evaluates, cannot be the column of a row-level
// security rule.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isReserved } from '../../src/domain/embed-token/sql-clause.ts';
import { postgres } from '../support/database.ts';
import { runSql } from '../support/sql.ts';

it('every reserved word of PostgreSQL is refused as a column', async () => {
  await using database = await postgres.create();
  const keywords = await runSql(database, "select word from pg_get_keywords() where catcode in ('R', 'T')");
  const words = keywords.map(({ word }) => String(word));
  assert.ok(words.length > 90 && words.includes('user') && words.includes('current_user'));
  for (const word of words) assert.equal(isReserved(word), true, word);
});
