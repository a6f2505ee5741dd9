// SQLite statements about API tokens run in the thread that serves callers or in the one that writes for all.
// An environment can have any number of revoked and expired API tokens, so a statement must not read them
// needlessly.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { READS } from '../../src/store/reads.ts';
import { COUNT_ACTIVE_API_TOKENS } from '../../src/store/writes.ts';
import { sqlite } from '../support/database.ts';
import { runSql } from '../support/sql.ts';
import { openStore } from '../support/store.ts';

const page = { tenant: { workspaceId: 1, environment: 'Customer' }, before: 9, limit: 9 } as const;
const PLACE = 'workspace_id=? AND environment=?';
const plans = [
  [
    'counts active ones',
    COUNT_ACTIVE_API_TOKENS.sql,
    [`expires_at (${PLACE} AND expires_at=?)`, `expires_at (${PLACE} AND expires_at>?)`],
  ],
  ...([true, false] as const).map((isRevoked) => {
    const { sql } = READS.listNewestApiTokens({ ...page, isRevoked }).statement;
    const index = isRevoked ? 'revoked' : 'unrevoked';
    return [`lists ${index} ones`, sql, [`${index} (${PLACE} AND api_token_id<?)`]] as const;
  }),
] as const;

for (const [title, sql, searches] of plans)
  it(title, async () => {
    await using database = await sqlite.create();
    await (await openStore(database.url)).close();
    const steps = (await runSql(database, `explain query plan ${sql}`)).map(({ detail }) => String(detail));
    assert.deepEqual(
      steps.filter((step) => /^(?:SEARCH|SCAN api)/.test(step)),
      searches.map((search) => `SEARCH api_tokens USING INDEX api_tokens_${search}`),
    );
    assert.ok(!steps.some((step) => step.includes('TEMP B-TREE')));
  });
