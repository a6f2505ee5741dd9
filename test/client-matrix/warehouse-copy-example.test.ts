// Runs examples/warehouse-copy: whatever happens between two runs, the copy has the exact text of every user group.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { describeOnEachDatabase } from '../support/database.ts';
import { codeBlocks, pageText } from '../support/page.ts';
import { assertProblem } from '../support/problem.ts';
import { eventually, Folder, Program } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const SCRIPT = fileURLToPath(new URL('../../examples/warehouse-copy/follow.py', import.meta.url));

const python = ['/usr/bin/python3', 'python3'].find((name) => spawnSync(name, ['--version']).status === 0);

describeOnEachDatabase('A copy of all user groups in Python', (database) => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  const service = TestService.of(database);
  const skip = python === undefined && 'python3 is not installed';
  const isPostgres = () => service.database.url.startsWith('postgres');
  let token: string;
  before(async () => {
    token = (await service.apiToken({ permission: 'read-only' })).token;
    if (isPostgres()) await runSql(service.database, 'update event_positions set base = base + 1000000');
  });

  /** Runs the script until the feed has no delayed event, and returns what it printed. */
  async function follow(): Promise<string> {
    const { json } = await service.call('GET', '/v1/events?limit=1');
    const last: string | undefined = json.events[0]?.event_id;
    await eventually('the feed to have the last event', async () => {
      const { json } = await service.call('GET', '/v1/events?order=oldest&limit=1000');
      return json.events.at(-1)?.event_id === last;
    });
    return run('copy.db');
  }

  async function run(copy: string): Promise<string> {
    const env = { SERVICE_URL: service.url, API_TOKEN: token };
    const program = new Program(folder, [SCRIPT, folder.join(copy)], { command: python!, env });
    const { code, stdout, stderr } = await program.exit();
    assert.equal(code, 0, stderr);
    return stdout;
  }

  async function assertCopied(): Promise<void> {
    using copy = new DatabaseSync(folder.join('copy.db'));
    const rows = copy.prepare('select document from user_groups order by id').all();
    const documents = rows.map(({ document }) => document).join(',');
    const { text } = await service.call('GET', '/v1/user-groups?limit=1000', undefined, { token });
    assert.equal(`{"success":1,"user_groups":[${documents}],"next_cursor":null}`, text);
  }

  it('has every change since the last run, digit for digit', { skip }, async () => {
    for (const id of ['acme', 'globex', 'initech', 'ü/ ?', '..', '007'])
      await service.get(`{"user_group_id":"${id}","name":"\u2028N","properties":{"n":1.10,"e":1e400}}`);
    assert.match(await follow(), /^Copying all user groups: there is no copy yet/);
    await assertCopied();
    const call = (method: string, path: string, body?: object) =>
      service.call(method, `/v1/user-groups/${path}`, body);
    await service.put('{"user_group_id":"ü/ ?","properties":{"n":9007199254740993}}');
    await call('POST', '007/suspend');
    await call('POST', 'acme/rename', { user_group_id: 'acme-eu' });
    await call('POST', 'acme-eu/rename', { user_group_id: 'acme-us' });
    await call('DELETE', 'acme-us');
    await call('POST', 'globex/rename', { user_group_id: 'globex-2' });
    await service.get({ user_group_id: 'globex', name: 'Another' });
    await call('DELETE', 'initech');
    await service.get({ user_group_id: 'initech', name: 'Again', properties: { large: 'x'.repeat(20_000) } });
    assert.equal(await follow(), '');
    await assertCopied();
    assert.equal(await follow(), '');
  });

  it('lists all groups again after a restore, and after a pause longer than the retention', {
    skip,
  }, async () => {
    await runSql(service.database, 'delete from events');
    await runSql(
      service.database,
      isPostgres()
        ? 'update event_positions set base = base - 1000000'
        : 'update sqlite_sequence set seq = 0',
    );
    await runSql(service.database, "delete from user_groups where provided_id = 'globex'");
    assert.match(await follow(), /^Copying all user groups: cursor is newer than the database/);
    await assertCopied();
    await runSql(service.database, "delete from user_groups where provided_id = 'globex-2'");
    service.clockAheadMs = 91 * 86_400_000;
    assert.match(
      await run('copy.db'),
      /^Copying all user groups: cursor is older than the events that are kept/,
    );
    service.clockAheadMs = 0;
    await assertCopied();
  });

  it('refuses an API token that reads tokens of user groups', { skip }, async () => {
    const env = { SERVICE_URL: service.url, API_TOKEN: service.token };
    const program = new Program(folder, [SCRIPT, folder.join('tokens.db')], { command: python!, env });
    const { code, stderr } = await program.exit();
    assert.equal(code, 1);
    assert.match(stderr, /^API_TOKEN must have the permission read-only/);
  });

  it('is complete after its first run although groups change all the time', { skip }, async () => {
    const until = Date.now() + 8_000;
    let isCopied = false;
    const change = async (_: unknown, writer: number) => {
      for (let count = 0; !isCopied && Date.now() < until; count++)
        await service.get({ user_group_id: `busy-${writer}-${count}`, name: 'Busy' });
    };
    const changes = Array.from({ length: 8 }, change);
    assert.match(await run('busy.db'), /^Copying all user groups: there is no copy yet/);
    assert.ok(Date.now() < until);
    isCopied = true;
    await Promise.all(changes);
  });

  it('has no number that loaders refuse if the property schema of the documentation is enforced', async () => {
    const { token } = await service.apiToken({ permission: 'admin' });
    const [, section = ''] = pageText('docs/catalogue.md').split('### Property schemas\n');
    const [schema] = codeBlocks(section, 'json');
    const rule = `{"mode":"enforce","schema":${schema}}`;
    const { status } = await service.call('PUT', '/v1/property-schema', rule, { token });
    assert.equal(status, 201);
    const put = (number: string) =>
      service.put(`{"user_group_id":"007","properties":{"a":[{"b":${number}}]}}`, { token });
    assert.equal((await put('-1e308')).status, 200);
    assertProblem(await put('1e400'), 'properties_invalid');
  });
});
