// A database that is changed while it is in use: a manual migration, revoked privileges, a pooler that
// reassigns sessions.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type pg from 'pg';
import { Installation } from '../support/faults/installation.ts';
import { eventually } from '../support/process.ts';

const CALLERS = 12;

describe('A database that is changed while it is in use', () => {
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

  it('is still served after the type of a column changes, without errors', async () => {
    // On a busy machine, opening all connections again may take longer than a call.
    await eventually('changes without errors', async () => {
      const statuses = new Set<number>();
      for (const type of ['varchar', 'text']) {
        await callAll();
        await operator.query(`alter table user_groups alter column name type ${type} collate "C"`);
        for (const { status } of await callAll()) statuses.add(status);
      }
      return statuses.size === 1 && statuses.has(200);
    });
  });

  it('causes a 503 with the reason while a table is missing', async () => {
    await site.get('there', 'There');
    await operator.query('alter table user_groups rename to elsewhere');
    for (const call of [site.get('there'), site.get('new', 'New'), site.put('there', 'Other')]) {
      const { status, json } = await call;
      assert.deepEqual({ status, code: json.code }, { status: 503, code: 'database_unavailable' });
    }
    const reason = /"reason":"PostgreSQL: relation \\"user_groups\\" does not exist"/;
    await eventually('the reason in the log', () => reason.test(site.services[0]!.stdout));
    await operator.query('alter table elsewhere rename to user_groups');
    assert.equal((await site.get('there')).status, 200);
  });

  for (const [code, what, routine] of [
    ['26000', 'does not exist'],
    ['42P05', 'exists already'],
    ['42501', 'is not permitted'],
    ['54000', 'needs a transaction id, of which none is left', 'GetNewTransactionId'],
    ['XX001', 'reads a damaged page'],
    ['XX002', 'reads a damaged index'],
  ] as const) {
    it(`causes a 503 while a statement ${what} (${code})`, async () => {
      const error = { code, ...(routine && { routine }) };
      site.proxy.decide = (subject) => (subject === 'find_user_groups' ? error : 'pass');
      assert.equal((await site.get('there')).status, 503);
      site.proxy.decide = () => 'pass';
      assert.equal((await site.get('there')).status, 200);
    });
  }

  /** Sends calls over all connections of the process. */
  function callAll(): Promise<Awaited<ReturnType<Installation['get']>>[]> {
    const call = (_: unknown, index: number) =>
      index % 2 === 0
        ? site.get(`group-${index % 8}`, 'Group')
        : site.call({ method: 'GET', path: `/v1/user-groups?limit=${index}` });
    return Promise.all(Array.from({ length: CALLERS }, call));
  }
});
