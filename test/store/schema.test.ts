// The schema files in the repository match the schema that the migrations create.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { dumpSchema, schemaFiles } from '../../scripts/dump-schema.ts';

for (const name of ['SQLite', 'PostgreSQL'] as const) {
  it(`${schemaFiles[name]} matches the migrations; "npm run schema" updates it`, async () => {
    assert.equal(readFileSync(schemaFiles[name], 'utf8'), await dumpSchema(name));
  });
}
