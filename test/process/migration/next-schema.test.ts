// This version serves a database that the next version has migrated, so that an upgrade can be undone, and
// says so. It refuses a database that the version after that has migrated.

import assert from 'node:assert/strict';
import { readFileSync, renameSync } from 'node:fs';
import { after, afterEach, before, it } from 'node:test';
import { describeOnEachDatabase, sqlite, type TestDatabase } from '../../support/database.ts';
import { OtherVersion } from '../../support/migration/other-version.ts';
import {
  createApiToken,
  type Exit,
  eventually,
  Folder,
  type ProgramOptions,
  run,
  runHosted,
} from '../../support/process.ts';
import { serveHere } from '../../support/service.ts';
import { runSql } from '../../support/sql.ts';

let next: OtherVersion;
before(() => {
  next = OtherVersion.next();
});
after(() => next[Symbol.dispose]());

describeOnEachDatabase('a database that the next version has migrated', (kind) => {
  const folder = Folder.of();
  let database: TestDatabase;
  let apiToken: string;
  let ahead: number;
  before(async () => {
    const created = await kind.create();
    const { stdout } = await runHosted(folder, ['key', 'generate']);
    database = { ...created, env: { UGS_TOKEN_KEYS: stdout.trim(), ...created.env } };
    apiToken = (await createApiToken(folder, [], database)).token;
    const { code } = await run(folder, ['migrate'], { ...database, program: next.program });
    assert.equal(code, 0);
    const [row] = await runSql(database, 'select max(number) as number from schema_migrations');
    ahead = row!.number as number;
  });
  afterEach(() => runSql(database, `update schema_migrations set number = ${ahead} where number > ${ahead}`));
  after(() => database.drop());

  const tooNew = () =>
    new RegExp(`\\(${ahead + 1}\\) .*up to ${ahead}\\): use a newer version, or restore the backup`);
  const versions = () => new RegExp(`to schema ${ahead}; this version .* schema ${ahead - 1}`);

  async function assertRefused(
    args: readonly string[],
    reason: RegExp,
    options: ProgramOptions = database,
  ): Promise<void> {
    const { code, stdout, stderr } = await runHosted(folder, args, options);
    assert.deepEqual({ code, stdout }, { code: 78, stdout: '' }, stderr);
    assert.match(stderr, /^user-group-service: [^\n]+\n$/);
    assert.match(stderr, reason);
  }

  it('is served, with a warning in the log, and every call works', async () => {
    await using service = await serveHere(folder, database.env);
    assert.match(warningsIn(service.logLines).join(), versions());
    assert.equal((await service.call('', 'GET', '/readyz')).status, 200);
    const call = async (method: string, path: string, body?: object) => {
      const { status, json } = await service.call(apiToken, method, path, body);
      assert.equal(status, method === 'DELETE' ? 204 : 200, `${method} ${path}: ${JSON.stringify(json)}`);
      return json;
    };
    const { user_group } = await call('GET', '/api/user', { user_group_id: 'one', name: 'One' });
    await call('PUT', '/api/user', { user_group_id: 'one', name: 'Two' });
    const rotated = await call('POST', '/api/user', { current_token: user_group.token });
    const seen = await call('POST', '/v1/resolve', { token: rotated.user_group.token });
    assert.equal(seen.user_group.name, 'Two');
    await call('POST', '/v1/user-groups/one/suspend');
    await call('GET', '/v1/user-groups');
    await call('GET', '/v1/events');
    await call('DELETE', '/v1/user-groups/one');
  });

  it('is left unchanged by migrate, which says so', async () => {
    const { code, stdout, stderr } = await runHosted(folder, ['migrate'], database);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, versions());
    const { stdout: json } = await runHosted(folder, ['migrate', '--json'], database);
    assert.deepEqual(JSON.parse(json), { applied: [] });
  });

  it('makes doctor warn', async () => {
    const { code, stdout } = await runHosted(folder, ['doctor', '--json'], database);
    const checks = JSON.parse(stdout).checks as Record<string, string>[];
    const schema = checks.find(({ name }) => name === 'schema')!;
    assert.equal(schema.status, 'warning');
    assert.match(schema.message!, versions());
    assert.equal(checks.find(({ name }) => name === 'keys')!.status, 'ok');
    assert.equal(code, 0);
  });

  it('is refused by commands that must know all of its data, and not changed by them', async () => {
    const other = await kind.create();
    assert.equal((await runHosted(folder, ['migrate'], other)).code, 0);
    const reason = /schema .* use the newer version/;
    for (const [source, target] of [
      [database.url, other.url],
      [other.url, database.url],
    ]) {
      const env = { ...database.env, SOURCE_DATABASE_URL: source!, TARGET_DATABASE_URL: target! };
      await assertRefused(['copy'], reason, { env });
    }
    await other.drop();
    await assertRefused(['key', 'reencrypt'], reason);
    await assertRefused(['workspace', 'delete', 'default'], reason);
    assert.equal((await runHosted(folder, ['workspace', 'list'], database)).code, 0);
  });

  it('is refused if the version after that has migrated it, with what to do', async () => {
    await runSql(database, `update schema_migrations set number = ${ahead + 1} where number = ${ahead}`);
    for (const command of ['serve', 'migrate', 'workspace list']) {
      await assertRefused(command.split(' '), tooNew());
    }
  });

  it('makes a running process not ready if the version after that has migrated it', async () => {
    await using service = await serveHere(folder, database.env);
    await runSql(database, `update schema_migrations set number = ${ahead + 1} where number = ${ahead}`);
    const { status, json } = await service.call('', 'GET', '/readyz');
    assert.deepEqual([status, json.code], [503, 'database_unavailable']);
    await eventually('the reason in the log', () => service.logLines.some((line) => tooNew().test(line)));
    assert.equal((await service.call('', 'GET', '/healthz')).status, 200);
  });

  if (kind !== sqlite) return;

  it('is restored from a backup', async () => {
    const path = database.url.slice('sqlite:'.length);
    assert.equal((await runHosted(folder, ['backup', 'backup'], database)).code, 0);
    renameSync(path, folder.join('moved'));
    const exit: Exit = await runHosted(folder, ['restore', 'backup'], database);
    assert.deepEqual([exit.code, exit.stderr], [0, '']);
    assert.deepEqual(readFileSync(path), readFileSync(folder.join('backup')));
  });
});

function warningsIn(lines: readonly string[]): string[] {
  return lines.map((line) => JSON.parse(line)).flatMap(({ level, msg }) => (level === 40 ? [msg] : []));
}
