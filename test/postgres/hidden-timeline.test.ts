// A user who may not read the timeline of the server, as on hardened and some managed servers.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { databaseOf, postgres } from '../support/database.ts';
import { eventually, Folder, runHosted } from '../support/process.ts';
import { executeSql, runSql } from '../support/sql.ts';

const role = `role_${randomBytes(8).toString('hex')}`;
/** Failed statements, which the server logs: each rolls its transaction back. */
const FAILED = 'select xact_rollback::int as count from pg_stat_database where datname = current_database()';
const SESSIONS = `select count(*)::int from pg_stat_activity where usename = '${role}'`;

describe('A user who may not execute pg_control_system', () => {
  const database = databaseOf(postgres);

  it('uses the database without an error in the log of the server', async () => {
    using folder = new Folder();
    const list = async (url: string) => {
      const exit = await runHosted(folder, ['api-token', 'list'], {
        env: { ...database.env, DATABASE_URL: url },
      });
      assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
    };
    await list(database.url);
    await executeSql(
      database,
      `create role ${role} login password 'secret';
      grant select, insert, update, delete on all tables in schema public to ${role};
      revoke execute on function pg_control_system() from public`,
    );
    try {
      const failed = await count(FAILED);
      await list(database.url.replace(/\/\/.*@/, `//${role}:secret@`));
      await eventually('the end of the sessions', async () => (await count(SESSIONS)) === 0);
      assert.equal(await count(FAILED), failed);
    } finally {
      await runSql(database, `drop owned by ${role}; drop role ${role}`);
    }
  });

  async function count(sql: string): Promise<unknown> {
    const [row] = await runSql(database, sql);
    return row!.count;
  }
});
