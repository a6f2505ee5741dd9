// Runs the commands of docs/back-up.md and docs/administer.md verbatim: a backup, a restore, a new key and a
// move to PostgreSQL.

import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { before, describe, it } from 'node:test';
import { databaseOf, postgres } from '../support/database.ts';
import { blocksUnder } from '../support/page.ts';
import { createApiToken, Folder, PATIENT, PROGRAM, Program, Service } from '../support/process.ts';
import { type Callable, serveHere } from '../support/service.ts';

const BACK_UP = 'docs/back-up.md';
const ADMINISTER = 'docs/administer.md';

describe('The documented commands', () => {
  const folder = Folder.of();
  const database = databaseOf(postgres);
  let env: Record<string, string>;
  let token: string;

  before(async () => {
    mkdirSync(folder.join('bin'));
    symlinkSync(PROGRAM, folder.join('bin/user-group-service'));
    const path = [folder.join('bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
    env = { ...PATIENT, PATH: path, TARGET_DATABASE_URL: database.url };
    ({ token } = await createApiToken(folder));
  });

  async function runBlock(script: string): Promise<string> {
    await using program = new Program(folder, argsOf(script), { command: 'bash', env });
    const { code, stdout, stderr } = await program.exit();
    assert.equal(code, 0, stderr);
    return stdout;
  }

  /** Returns the token of the only group. */
  async function tokenAt(service: Callable): Promise<string> {
    const body = { user_group_id: 'kept', name: 'Kept' };
    const { json } = await service.call(token, 'GET', '/api/user', body);
    return json.user_group.token;
  }

  async function serveAndRead(): Promise<string> {
    await using service = await serveHere(folder, {});
    return await tokenAt(service);
  }

  it('restores the database from a backup of the running service', async () => {
    const [backup] = blocksUnder(BACK_UP, 'Back up');
    const [restore] = blocksUnder(BACK_UP, 'Restore');
    let kept = '';
    {
      await using service = await serveHere(folder, {});
      kept = await tokenAt(service);
      await runBlock(backup!);
      await service.call(token, 'POST', '/api/user', { current_token: kept });
    }
    assert.match(await runBlock(restore!), /read-write/);
    assert.equal(await serveAndRead(), kept);
  });

  it('keeps every replaced database, even after repeated restores', async () => {
    const [restore] = blocksUnder(BACK_UP, 'Restore');
    const setAside = () => globSync('set-aside*/**/user-groups.db', { cwd: folder.path });
    const before = setAside().length;
    await runBlock(restore!);
    await runBlock(restore!);
    assert.equal(setAside().length, before + 2);
  });

  it('restores a backup to another path as a drill, while the service is running', async () => {
    const [drill] = blocksUnder(BACK_UP, 'Restore drill');
    await using _service = await serveHere(folder, {});
    const output = await runBlock(drill!);
    assert.match(output, /"user_groups":1\}/);
    assert.match(output, / active +yes +1\n/);
    assert.deepEqual(globSync('drill', { cwd: folder.path }), []);
  });

  it('replaces the key and keeps every token, and keeps the old key for older backups', async () => {
    const [addKey, reencrypt] = blocksUnder(ADMINISTER, 'With the key file');
    const keyFile = folder.join('data/token-keys');
    const oldKey = readFileSync(keyFile, 'utf8');
    const before = await serveAndRead();
    await runBlock(addKey!);
    assert.equal(await serveAndRead(), before);
    assert.match(await runBlock(reencrypt!), /^Re-encrypted 1 of 1 tokens/);
    assert.equal(readFileSync(keyFile, 'utf8'), readFileSync(folder.join('new-key'), 'utf8'));
    assert.equal(await serveAndRead(), before);

    await runBlock(addKey!);
    const oldKeys = globSync('old-keys*', { cwd: folder.path }).map((path) =>
      readFileSync(folder.join(path), 'utf8'),
    );
    assert.ok(oldKeys.includes(oldKey), 'the first old key is kept after another replacement');
    assert.equal(await serveAndRead(), before);
  });

  it('moves to PostgreSQL and keeps every token', async () => {
    const [move, serveThere] = blocksUnder(ADMINISTER, 'Move');
    const before = await serveAndRead();
    assert.match(await runBlock(move!), /user groups +1 +1 /);
    const script = serveThere!.replace(/^user-group-service serve$/m, 'exec $&');
    const more = { ...env, DATABASE_URL: database.url };
    await using service = await Service.start(folder, argsOf(script), { command: 'bash', env: more });
    assert.equal(await tokenAt(service), before);
  });
});

/** Arguments of bash. */
function argsOf(script: string): string[] {
  return ['-euo', 'pipefail', '-c', script];
}
