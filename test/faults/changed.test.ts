// A database that somebody changes while it is served: a migration by hand, rights that are taken away, a pooler that
// hands sessions round.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type pg from 'pg';
import { Installation } from './installation.ts';

const CALLERS = 12;

describe('A database that is changed while it is served', () => {
  let site: Installation;
  let operator: pg.Client;
  before(async () => {
    site = await Installation.start();
    operator = await site.operator();
  });
  afterEach(() => {
    site.proxy.decide = () => 'pass';
  });
  after(() => site[Symbol.asyncDispose]());

  it('in the type of a column is served on, and nobody notices it', async () => {
    for (const type of ['varchar', 'text']) {
      await callAll();
      await operator.query(`alter table user_groups alter column name type ${type} collate "C"`);
      for (const { status, text } of await callAll()) assert.equal(status, 200, text);
    }
  });

  it('so that a table is gone is a 503 with its reason, until it is there again', async () => {
    await site.get('there', 'There');
    await operator.query('alter table user_groups rename to elsewhere');
    for (const call of [site.get('there'), site.get('new', 'New'), site.put('there', 'Other')]) {
      const { status, json } = await call;
      assert.deepEqual({ status, code: json.code }, { status: 503, code: 'database_unavailable' });
    }
    assert.match(
      site.services[0]!.stdout,
      /"reason":"PostgreSQL: relation \\"user_groups\\" does not exist"/,
    );
    await operator.query('alter table elsewhere rename to user_groups');
    assert.equal((await site.get('there')).status, 200);
  });

  for (const [code, what] of [
    ['26000', 'is not there'],
    ['42P05', 'is there already'],
    ['42501', 'may not be used'],
  ]) {
    it(`so that a statement ${what} (${code}) is a 503, until it is set right`, async () => {
      site.proxy.decide = (subject) => (subject === 'find_user_groups' ? { code: code! } : 'pass');
      assert.equal((await site.get('there')).status, 503);
      site.proxy.decide = () => 'pass';
      assert.equal((await site.get('there')).status, 200);
    });
  }

  /** Through all connections of the process. */
  function callAll(): Promise<Awaited<ReturnType<Installation['get']>>[]> {
    const call = (_: unknown, index: number) =>
      index % 2 === 0
        ? site.get(`group-${index % 8}`, 'Group')
        : site.call({ method: 'GET', path: `/v1/user-groups?limit=${index}` });
    return Promise.all(Array.from({ length: CALLERS }, call));
  }
});
