// The schema files in the repository match the schema that the migrations create, and all tables are known.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { dumpSchema, schemaFiles } from '../../scripts/dump-schema.ts';
import { TABLES } from '../../src/store/tables.ts';

/** Tables that SQLite does not need. */
const ONLY_POSTGRES = ['event_positions', 'id_leases'];
/** Tables of workspaces whose rows result from those of other tables, or are counted again. */
const NOT_COPIED = ['environments', 'environment_figures'];

for (const name of ['SQLite', 'PostgreSQL'] as const) {
  it(`${schemaFiles[name]} matches the migrations; "npm run schema" updates it`, async () => {
    assert.equal(readFileSync(schemaFiles[name], 'utf8'), await dumpSchema(name));
  });

  it(`the tables on ${name} are those that copies, the deletion of a workspace and Citus know`, () => {
    const stored = readFileSync(schemaFiles[name], 'utf8')
      .split(/^create table "?/im)
      .slice(1)
      .map((sql): [string, object] => {
        const table = /^\w+/.exec(sql)![0];
        const isOfWorkspace = /^ {2}workspace_id /m.test(sql);
        const isCopied = isOfWorkspace && !NOT_COPIED.includes(table);
        const column = table === 'imported_tokens' ? 'token_digest' : 'bucket';
        return [table, { isCopied, isOfWorkspace, distributedBy: /^ {2}bucket /m.test(sql) ? column : null }];
      })
      .filter(([table]) => table !== 'schema_migrations');
    const known = Object.entries(TABLES)
      .filter(([table]) => name === 'PostgreSQL' || !ONLY_POSTGRES.includes(table))
      .map(([table, { isCopied, ofWorkspace, distributedBy }]) => [
        table,
        { isCopied, isOfWorkspace: ofWorkspace !== null, distributedBy },
      ]);
    assert.deepEqual(Object.fromEntries(stored), Object.fromEntries(known));
  });
}
