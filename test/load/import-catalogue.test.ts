// An import reads the configuration of its environment when it changes, not for every line.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { before, it } from 'node:test';
import { databaseOf, describeOnEachDatabase } from '../support/database.ts';
import { createApiToken, Folder, run } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

const DATA_SOURCES = 10_000;
const LINES = 2_000;
/** On a busy machine, compiling the catalogue and starting the command take one second of this. */
const LIMIT_MS = 20_000;

describeOnEachDatabase(`An import into an environment with ${DATA_SOURCES} data sources`, (kind) => {
  const folder = Folder.of();
  const database = databaseOf(kind);
  before(async () => {
    await createApiToken(folder, [], { env: database.env });
    await runSql(
      database,
      `insert into documents (workspace_id, environment, kind, document_id, version, body, created_at, updated_at)
       with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${DATA_SOURCES})
       select workspace_id, 'Customer', 'data_source', 'source-' || n, 1,
         '{"data_source_id":' || n || ',"schema_id":"40","name":"Source","attributes":{"host":"db.example.com"}}', 1, 1
       from numbers, workspaces`,
    );
    await runSql(
      database,
      `insert into environments (workspace_id, environment, config_version)
       select workspace_id, 'Customer', ${DATA_SOURCES} from workspaces`,
    );
  });

  it(`imports ${LINES} lines within ${LIMIT_MS / 1_000} seconds`, async (test) => {
    const lines = Array.from({ length: LINES }, (_, index) => ({
      user_group_id: `group-${index}`,
      name: 'Group',
      mapping: { 40: `source-${index}` },
    }));
    writeFileSync(folder.join('groups'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const start = performance.now();
    const exit = await run(folder, ['import', 'groups', '--workspace', 'default'], { env: database.env });
    const tookMs = performance.now() - start;
    assert.equal(exit.stdout, `${LINES} lines: ${LINES} created, 0 updated, 0 unchanged, 0 refused.\n`);
    test.diagnostic(`${Math.round((LINES / tookMs) * 1_000)} lines a second`);
    assert.ok(tookMs < LIMIT_MS, `took ${Math.round(tookMs)} ms`);
  });
});
