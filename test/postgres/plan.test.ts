// Speed that rests on plans: a look-up reads the rows it wants, however fast the database has grown.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgres } from '../database.ts';
import { TestService } from '../service.ts';

const GROUPS = 5_000;
const LOOK_UPS = 50;

describe('a database that has grown from nothing within seconds', () => {
  let service: TestService;
  let client: pg.Client;
  before(async () => {
    service = await TestService.start(postgres, {
      env: { UGS_QUEUE_LIMIT: String(GROUPS), UGS_POSTGRES_POOL_SIZE: '1' },
    });
    client = new pg.Client(service.database.url);
    await client.connect();
    // The connection makes its plans now, for an empty table, and keeps one that it has used some times.
    for (let call = 0; call < 20; call++) await lookUp(call);
    await Promise.all(
      Array.from({ length: GROUPS }, (_, index) =>
        service.get({ user_group_id: `group-${index}`, name: `Group ${index}` }),
      ),
    );
    await Promise.all(
      Array.from({ length: GROUPS }, (_, index) =>
        service.importGroup({ user_group_id: `imported-${index}`, name: 'I', token: importedToken(index) }),
      ),
    );
  });
  after(async () => {
    await client.end();
    await service.end();
  });

  async function lookUp(index: number): Promise<void> {
    const { json } = await service.get({ user_group_id: `group-${index}` });
    if (json.success === 1) await service.resolve(json.user_group.token);
    await service.resolve(importedToken(index));
  }

  function importedToken(index: number): string {
    return `token of another system ${index}`.replaceAll(' ', '-');
  }

  /** How often a table has been read from its beginning to its end. */
  async function wholeReads(): Promise<number> {
    // A connection reports what it has done at the end of a statement, and no more than once a second.
    await sleep(1_100);
    await lookUp(0);
    const { rows } = await client.query(
      "select sum(seq_scan) from pg_stat_user_tables where relname in ('user_groups', 'imported_tokens')",
    );
    return Number(rows[0].sum);
  }

  it('is not read whole to look up a group, a token or an imported token', async () => {
    const before = await wholeReads();
    // One after the other: for a large batch it may well be best to read all of a table of this size.
    for (let index = 0; index < LOOK_UPS; index++) await lookUp(index);
    assert.equal(await wholeReads(), before);
  });
});
