// The schema files in the repository match the schema that the migrations create, and the deletion of a workspace.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { dumpSchema, schemaFiles } from '../../scripts/dump-schema.ts';
import { WORKSPACE_TABLES } from '../../src/store/entities.ts';

/** Tables whose rows prevent the deletion of their workspace, and the table of workspaces. */
const OTHERS = ['user_groups', 'events', 'usage_counts', 'workspaces'];

for (const name of ['SQLite', 'PostgreSQL'] as const) {
  it(`${schemaFiles[name]} matches the migrations; "npm run schema" updates it`, async () => {
    assert.equal(readFileSync(schemaFiles[name], 'utf8'), await dumpSchema(name));
  });

  it(`the deletion of a workspace leaves no rows of it on ${name}`, () => {
    const tables = readFileSync(schemaFiles[name], 'utf8')
      .split(/^create table "?/im)
      .slice(1);
    const ofWorkspaces = tables.filter((table) => /^ {2}workspace_id /m.test(table));
    assert.deepEqual(
      ofWorkspaces.map((table) => /^\w+/.exec(table)![0]).sort(),
      [...WORKSPACE_TABLES, ...OTHERS].sort(),
    );
  });
}
