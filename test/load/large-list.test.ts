// Lists of API tokens, workspaces and user groups are read and printed page by page, so memory does not limit
// their length.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, it } from 'node:test';
import { databaseOf, describeOnEachDatabase } from '../support/database.ts';
import { Folder, PROGRAM, Program, run } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

const ROWS = 200_000;
const LIMIT_MS = 60_000;
/** Heap of which the program itself needs a third; all rows of either list would not fit into the rest. */
const SMALL_HEAP = '--max-old-space-size=60';

describeOnEachDatabase(`A list of ${ROWS} rows`, (kind) => {
  const folder = Folder.of();
  const database = databaseOf(kind);
  before(async () => {
    assert.equal((await run(folder, ['migrate'], { env: database.env })).code, 0);
    const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${ROWS})`;
    await runSql(
      database,
      `insert into workspaces (workspace_id, name, created_at) ${numbers}
       select n, 'workspace-' || n, 1 from numbers`,
    );
    await runSql(
      database,
      `insert into api_tokens (api_token_id, workspace_id, environment, permission, name, digest, created_at)
       ${numbers} select n, n, 'Customer', 'resolve', 'name-' || n, 'digest-' || n, 1 from numbers`,
    );
    await runSql(
      database,
      `insert into user_groups (bucket, workspace_id, environment, provided_id, team_id, name, version, token_digest,
         token_key_id, token_ciphertext, created_at, updated_at)
       ${numbers} select 0, 1, 'Customer', 'group-' || n, n, 'name-' || n, 1, 'digest-' || n, '', '', 1, 1
       from numbers`,
    );
    await runSql(database, `update id_blocks set next = next + ${ROWS}`);
    if (kind.name !== 'SQLite') await runSql(database, 'analyze');
  });

  /** Runs a command that lists, and returns its output. */
  async function list(...args: string[]): Promise<string> {
    const script = '"$0" "$@" > list';
    await using program = new Program(folder, ['-c', script, process.execPath, PROGRAM, ...args], {
      env: { ...database.env, NODE_OPTIONS: SMALL_HEAP },
      command: '/bin/sh',
    });
    const { code, stderr } = await program.exit(LIMIT_MS);
    assert.deepEqual([code, stderr], [0, '']);
    return readFileSync(folder.join('list'), 'utf8');
  }

  const lists: Record<string, { args: string[]; name: RegExp }> = {
    'api-token list': { args: ['api-token', 'list'], name: /workspace-\d+/ },
    'workspace list': { args: ['workspace', 'list'], name: /workspace-\d+/ },
    'group list': { args: ['group', 'list', '--workspace', 'workspace-1'], name: /group-\d+/ },
  };
  for (const [command, { args, name }] of Object.entries(lists)) {
    it(`${command} prints every row`, async () => {
      const lines = (await list(...args)).trimEnd().split('\n');
      assert.equal(lines.length, ROWS + 1);
      const names = new Set(lines.slice(1).map((line) => name.exec(line)?.[0]));
      assert.equal(names.size, ROWS);
    });

    it(`${command} --json prints one document with every row`, async () => {
      const text = await list(...args, '--json');
      assert.match(text, /^[^\n]+\n$/);
      assert.equal(JSON.parse(text).length, ROWS);
    });
  }
});
