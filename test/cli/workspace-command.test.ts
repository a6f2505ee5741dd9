// Workspaces on the command line: a mistyped name does not create one, a rename changes nothing else, and
// only an empty workspace can be deleted.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config.ts';
import { type CommandDatabase, openForCommand } from '../../src/database.ts';
import { createApiToken as createApiTokenIn } from '../../src/operations/api-token/api-token.ts';
import {
  deleteWorkspace,
  ensureWorkspace,
  WorkspaceDeleted,
} from '../../src/operations/workspace/workspace.ts';
import { databaseOf, describeOnEachDatabase } from '../support/database.ts';
import { createApiToken, type Exit, Folder, runHosted, serve } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { columnsOf, runSql, SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const ROUNDS = 30;
const LONG_AGO = 1;
/** Value that no row has; every column accepts it. */
const UNUSED = 1_000_000;

describeOnEachDatabase('The workspaces of an installation', (kind) => {
  const folder = Folder.of();
  const database = databaseOf(kind);
  before(async () => {
    const first = await command('api-token', 'create', '--workspace', 'acme');
    assert.deepEqual([first.code, /Created workspace acme/.test(first.stderr)], [0, true]);
    writeFileSync(folder.join('groups'), '{"user_group_id":"a","name":"A"}\n');
  });

  function command(...args: string[]): Promise<Exit> {
    return runHosted(folder, args, { env: database.env });
  }

  async function names(): Promise<string[]> {
    const { stdout } = await command('workspace', 'list', '--json');
    return JSON.parse(stdout).map(({ name }: { name: string }) => name);
  }

  async function assertRefused(code: number, message: RegExp, ...args: string[]): Promise<void> {
    const exit = await command(...args);
    assert.deepEqual([exit.code, exit.stdout], [code, ''], exit.stderr);
    assert.match(exit.stderr, /^user-group-service: [^\n]+\n$/);
    assert.match(exit.stderr, message);
  }

  /** Creates a workspace whose only API token was revoked long ago. */
  async function createInactive(name: string): Promise<void> {
    const args = ['--workspace', name, '--create-workspace'];
    const { id } = await createApiToken(folder, args, { env: database.env });
    await runSql(database, `update api_tokens set revoked_at = ${LONG_AGO} where api_token_id = ${id}`);
  }

  const creating = [
    ['api-token', 'create'],
    ['import', 'groups'],
    ['import', 'groups', '--dry-run'],
  ];
  for (const args of creating) {
    it(`are not created by a typo: "${args.join(' ')}" exits with 3 and suggests the similar name`, async () => {
      const message =
        /workspace Amce does not exist \(did you mean acme\?\); .* create it with --create-workspace$/m;
      const noSuggestion = /workspace globex does not exist; run "workspace list"/;
      await assertRefused(3, message, ...args, '--workspace', 'Amce');
      await assertRefused(3, noSuggestion, ...args, '--workspace', 'globex');
      assert.deepEqual(await names(), ['acme']);
    });
  }

  it('are suggested by commands that need one that exists', async () => {
    for (const args of [['check'], ['signing-key', 'list']])
      await assertRefused(
        3,
        /workspace Amce does not exist \(did you mean acme\?\)/,
        ...args,
        '--workspace',
        'Amce',
      );
  });

  it('are created by --create-workspace, which changes nothing if the workspace exists', async () => {
    for (const isNew of [true, false]) {
      const { code, stderr } = await command(
        ...['api-token', 'create', '--create-workspace', '--workspace', 'new'],
      );
      assert.deepEqual([code, stderr], [0, isNew ? 'Created workspace new.\n' : '']);
    }
    const imported = await command('import', 'groups', '--create-workspace', '--workspace', 'newer');
    assert.deepEqual([imported.code, imported.stderr], [0, 'Created workspace newer.\n']);
    assert.deepEqual(await names(), ['acme', 'new', 'newer']);
  });

  it('are renamed while the service is running, and nothing else changes', async () => {
    const args = ['--workspace', 'before', '--create-workspace'];
    const { token } = await createApiToken(folder, args, { env: database.env });
    await using service = await serve(folder, { env: database.env });
    const body = { user_group_id: 'one', name: 'One' };
    const created = await service.call(token, 'POST', '/v1/user-groups', body);
    const renamed = await command('workspace', 'rename', 'before', 'after');
    assert.deepEqual(
      [renamed.code, renamed.stdout, renamed.stderr],
      [0, 'Renamed workspace before to after.\n', ''],
    );
    const found = await service.call(token, 'POST', '/v1/user-groups', body);
    assert.deepEqual(found.json.user_group, created.json.user_group);
    assert.equal(found.headers.etag, created.headers.etag);
    const json = await command('workspace', 'rename', 'after', 'before', '--json');
    assert.deepEqual(JSON.parse(json.stdout), { name: 'before', previous_name: 'after' });
    assert.ok((await names()).includes('before'));
  });

  it('are not renamed to an existing name, nor from an unknown name', async () => {
    await createInactive('mine');
    await assertRefused(2, /workspace acme already exists/, 'workspace', 'rename', 'mine', 'acme');
    await assertRefused(3, /did you mean mine\?/, 'workspace', 'rename', 'mien', 'other');
    await assertRefused(3, /workspace nobody does not exist/, 'workspace', 'delete', 'nobody');
    assert.equal((await command('workspace', 'rename', 'mine', 'mine')).code, 0);
    assert.ok((await names()).includes('mine'));
  });

  it('are deleted with their inactive API tokens if they have no user groups', async () => {
    await createInactive('ended');
    const { code, stdout, stderr } = await command('workspace', 'delete', 'ended');
    assert.deepEqual([code, stdout, stderr], [0, 'Deleted workspace ended.\n', '']);
    assert.equal((await names()).includes('ended'), false);
    const tokens = JSON.parse((await command('api-token', 'list', '--json')).stdout);
    assert.ok(tokens.every(({ workspace }: { workspace: string | null }) => workspace !== null));
    await createInactive('expired');
    await runSql(
      database,
      `update api_tokens set revoked_at = null, expires_at = ${LONG_AGO} where revoked_at = ${LONG_AGO}`,
    );
    const json = await command('workspace', 'delete', 'expired', '--json');
    assert.deepEqual(JSON.parse(json.stdout), { name: 'expired', status: 'deleted' });
  });

  it('are deleted with their rows in every table', async () => {
    await createInactive('full');
    const [workspace] = await runSql(database, "select workspace_id from workspaces where name = 'full'");
    const known: Record<string, unknown> = { ...workspace, environment: "'Testing'" };
    const tables = Array.from(await columnsOf(database)).filter(([, names]) =>
      names.includes('workspace_id'),
    );
    for (const [table, names] of tables) {
      // User groups prevent the deletion, and the other two have a row.
      if (['user_groups', 'workspaces', 'api_tokens'].includes(table)) continue;
      const values = names.map((name) => known[name] ?? `'${UNUSED}'`);
      await runSql(database, `insert into ${table} (${names}) values (${values})`);
    }
    assert.equal((await command('workspace', 'delete', 'full')).code, 0);
    for (const [table] of tables) {
      const query = `select 1 from ${table} where workspace_id = ${known.workspace_id}`;
      assert.deepEqual(await runSql(database, query), [], table);
    }
  });

  it('are kept while they have a user group, or an API token that is active or has just been revoked', async () => {
    const args = ['--workspace', 'used', '--create-workspace'];
    const { id } = await createApiToken(folder, args, { env: database.env });
    const hasApiTokens = /has API tokens that are active, or that expired or were revoked less than/;
    await assertRefused(65, hasApiTokens, 'workspace', 'delete', 'used');
    await command('api-token', 'revoke', String(id));
    await assertRefused(65, hasApiTokens, 'workspace', 'delete', 'used');
    await runSql(database, `update api_tokens set revoked_at = ${LONG_AGO} where api_token_id = ${id}`);
    await command('import', 'groups', '--workspace', 'used');
    await assertRefused(65, /is not empty: delete its user groups first/, 'workspace', 'delete', 'used');
    assert.ok((await names()).includes('used'));
  });
});

describeOnEachDatabase('A workspace deleted concurrently', (kind) => {
  const stack = suiteStack();
  let service: TestService;
  let other: CommandDatabase;
  before(async () => {
    service = stack.use(await TestService.start(kind));
    other = await openForCommand(readConfig(service.database.env));
    stack.defer(() => other.close());
  });

  async function remove(name: string): Promise<string> {
    return deleteWorkspace(other.store, name, Date.now());
  }

  async function assertNoOrphans(): Promise<void> {
    for (const table of ['api_tokens', 'user_groups', 'deliveries']) {
      const orphans = await runSql(
        service.database,
        `select workspace_id from ${table} where workspace_id not in (select workspace_id from workspaces)`,
      );
      assert.deepEqual(orphans, [], table);
    }
  }

  it('with the creation of an API token is kept, or the creation fails', async () => {
    const { context } = service.app;
    const { store } = context;
    const fields = { environment: 'Customer', permission: 'resolve' } as const;
    for (let round = 0; round < ROUNDS; round++) {
      const workspaceName = `token ${round}`;
      await ensureWorkspace(store, workspaceName, Date.now());
      const creating = createApiTokenIn(context, { workspaceName, ...fields }).catch((error) => error);
      await sleep(Math.random() * 3);
      const [created, deleted] = await Promise.all([creating, remove(workspaceName)]);
      if (deleted === 'has_api_tokens') assert.ok(created.token);
      // Creating the API token may also have created the workspace again.
      else assert.ok(deleted === 'deleted' && (created instanceof WorkspaceDeleted || created.token));
    }
    await assertNoOrphans();
  });

  it('loses webhook deliveries without events first', async () => {
    const { workspace } = await ensureWorkspace(other.store, 'deliveries', Date.now());
    const { workspaceId } = workspace;
    await runSql(
      service.database,
      `insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type,
         target_id, position, state, attempts, created_at)
       values (1, ${workspaceId}, 'Testing', 'crm', 'evt_1', 'user_group.created', 'user_group', 'g', 1, 'failed', 8, 1)`,
    );
    const command = { kind: 'deleteWorkspace', workspaceId, endedBefore: Date.now() } as const;
    assert.equal(await other.store.write(command), 'has_history');
    assert.equal(await remove('deliveries'), 'deleted');
    await assertNoOrphans();
  });

  for (const token of [undefined, 'a-token-of-another-system-']) {
    it(`with the import of a group ${token ? 'with' : 'without'} a token is kept, or the import fails`, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const workspace = `import ${round} ${token}`;
        const group = { user_group_id: 'one', name: 'One', ...(token && { token: `${token}${round}` }) };
        await ensureWorkspace(service.app.context.store, workspace, Date.now());
        const importing = service.importGroup(group, { workspace }).catch((error) => error);
        await sleep(Math.random() * 3);
        const [imported, deleted] = await Promise.all([importing, remove(workspace)]);
        if (deleted === 'has_user_groups') assert.equal(imported.result, 'created');
        else
          assert.ok(imported instanceof WorkspaceDeleted || imported.result === 'created', String(imported));
      }
      await assertNoOrphans();
      const unclaimed = await runSql(
        service.database,
        `select token_digest from imported_tokens where token_digest not in (select token_digest from user_groups)`,
      );
      assert.deepEqual(unclaimed, []);
    });
  }

  it('with the transaction of an import waits for its commit', { skip: kind.name === 'SQLite' }, async () => {
    const { workspace } = await ensureWorkspace(service.app.context.store, 'held', Date.now());
    await using client = await SqlConnection.open(service.database.url);
    // Takes the same lock as an import.
    await client.query('begin');
    await client.query('update workspaces set name = name where name = $1', ['held']);
    const deleting = remove('held');
    assert.equal(await Promise.race([deleting, sleep(300, 'waits')]), 'waits');
    await client.query(
      `insert into user_groups (bucket, workspace_id, environment, provided_id, team_id, name, version, token_digest,
         token_key_id, token_ciphertext, created_at, updated_at)
       values (1, $1, 'Customer', 'late', 1000000, 'Late', 1, 'late', 'key', 'text', 1, 1)`,
      [workspace.workspaceId],
    );
    await client.query('commit');
    assert.equal(await deleting, 'has_user_groups');
  });
});
