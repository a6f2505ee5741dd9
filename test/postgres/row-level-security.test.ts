// The row-level security of docs/embedding.md: without a value there are no rows, and no value remains for
// the next customer.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { postgres } from '../support/database.ts';
import { codeBlocks, pageText } from '../support/page.ts';
import { SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const [policy = '', query = ''] = codeBlocks(pageText('docs/embedding.md'), 'sql');
/** Unique, because roles belong to the server, which other tests use too. */
const role = `charts_${randomBytes(4).toString('hex')}`;
const password = randomBytes(16).toString('hex');

describe('The row-level security of the documentation', () => {
  const stack = suiteStack();
  let owner: SqlConnection;
  /** Single connection, as a pool would reuse it. */
  let charts: SqlConnection;
  before(async () => {
    const database = stack.use(await postgres.create());
    owner = stack.use(await SqlConnection.open(database.url));
    await owner.query(`create role ${role} login password '${password}'`);
    stack.defer(async () => {
      await owner.query(`drop owned by ${role}`);
      await owner.query(`drop role ${role}`);
    });
    await owner.query('create table orders (customer_id text, amount int)');
    await owner.query("insert into orders values ('acme', 1), ('acme', 2), ('globex', 40)");
    await owner.query(policy.replace('to charts', `to ${role}`));
    await owner.query(`grant select on orders to ${role}`);
    const url = Object.assign(new URL(database.url), { username: role, password });
    charts = stack.use(await SqlConnection.open(url.href));
  });

  async function sumOf(customer: string): Promise<string | null> {
    const statements = query.split(';').filter((text) => text.trim() !== '');
    let sum: string | null = null;
    for (const text of statements) {
      const { rows } = await charts.query(text, text.includes('$1') ? [customer] : []);
      if (text.includes('sum(')) sum = rows[0].sum;
    }
    return sum;
  }

  async function countOfAll(): Promise<number> {
    return Number((await charts.query('select count(*) from orders')).rows[0].count);
  }

  it('shows each customer its own rows, and none outside of the transaction', async () => {
    assert.equal(await countOfAll(), 0);
    assert.equal(await sumOf('acme'), '3');
    assert.equal(await countOfAll(), 0);
    assert.equal(await sumOf('globex'), '40');
    assert.equal(await sumOf("acme' or true --"), null);
    assert.equal(await sumOf(''), null);
  });
});
