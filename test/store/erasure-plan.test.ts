// SQLite statements that look for events to erase run in the threads that serve callers and write for all. A user group
// can have any number of large events, so they must read only an index.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ERASURE } from '../../src/store/sqlite/event/erase.ts';
import { HAS_MORE } from '../../src/store/sqlite/event/list.ts';
import { sqlite } from '../support/database.ts';
import { runSql } from '../support/sql.ts';
import { openStore } from '../support/store.ts';

const PLACE = 'workspace_id=? AND environment=? AND target_type=? AND target_id=?';
const RANGE = `${PLACE} AND rowid>? AND rowid<?`;

it('Finding where an erasure continues reads only the index of targets', async () => {
  await using database = await sqlite.create();
  await (await openStore(database.url)).close();
  const searches = async (sql: string) => {
    const steps = (await runSql(database, `explain query plan ${sql}`)).map(({ detail }) => String(detail));
    return steps.filter((step) => /^(?:(?:SEARCH|SCAN) events|USE TEMP)/.test(step));
  };
  const index = 'INDEX events_target';
  assert.deepEqual(await searches(HAS_MORE), [`SEARCH events USING COVERING ${index} (${PLACE})`]);
  const { find, findLastScanned } = ERASURE;
  assert.deepEqual(await searches(findLastScanned.sql), [`SEARCH events USING COVERING ${index} (${RANGE})`]);
  assert.deepEqual(await searches(find.sql), [`SEARCH events USING ${index} (${RANGE})`]);
});
