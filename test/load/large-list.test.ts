// Lists of API tokens and workspaces are read and printed page by page, so that their length is not limited by memory.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { describeOnEachDatabase, type TestDatabase } from '../support/database.ts';
import { Folder, PROGRAM, Program, run } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

const ROWS = 200_000;
const LIMIT_MS = 60_000;
/** The program itself needs a third of it; all rows of either list would not fit into the rest. */
const SMALL_HEAP = '--max-old-space-size=60';

describeOnEachDatabase(`A list of ${ROWS} rows`, (kind) => {
  let folder: Folder;
  let database: TestDatabase;
  before(async () => {
    folder = new Folder();
    database = await kind.create();
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
    if (kind.name !== 'SQLite') await runSql(database, 'analyze');
  });
  after(async () => {
    await database.drop();
    folder[Symbol.dispose]();
  });

  /** Returns the output of the command. */
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

  for (const what of ['api-token', 'workspace']) {
    it(`${what} list prints every row`, async () => {
      const lines = (await list(what, 'list')).trimEnd().split('\n');
      assert.equal(lines.length, ROWS + 1);
      const names = new Set(lines.slice(1).map((line) => /workspace-\d+/.exec(line)?.[0]));
      assert.equal(names.size, ROWS);
    });

    it(`${what} list --json prints one document with every row`, async () => {
      const text = await list(what, 'list', '--json');
      assert.match(text, /^[^\n]+\n$/);
      assert.equal(JSON.parse(text).length, ROWS);
    });
  }
});
