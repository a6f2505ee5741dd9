// The published package: packed, installed into an empty folder, and run as its users run it.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createApiToken, type Exit, Folder, Program, serve } from '../process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const INSTALLED = 'node_modules/user-group-service';
const LIMIT_MS = 60_000;

/** npm with the settings of the machine: they say where packages come from. */
async function npm(folder: Folder, command: string, ...args: string[]): Promise<Exit> {
  await using program = new Program(folder, args, { command, env: process.env as Record<string, string> });
  const exit = await program.exit(LIMIT_MS);
  assert.equal(exit.code, 0, exit.stderr);
  return exit;
}

describe('The package', () => {
  it('installed into an empty folder, tells its version and serves', { timeout: LIMIT_MS }, async () => {
    using folder = new Folder();
    await npm(folder, 'npm', 'pack', ROOT);
    const [tarball = ''] = globSync('*.tgz', { cwd: folder.path });
    await npm(folder, 'npm', 'install', `./${tarball}`, '--ignore-scripts', '--prefer-offline', '--no-audit');

    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const { stdout } = await npm(folder, 'npx', '--no-install', 'user-group-service', '--version');
    assert.equal(stdout, `${version}\n`);
    await assertServes(folder);
    assertHoldsOnlyWhatRuns(folder);
  });
});

async function assertServes(folder: Folder): Promise<void> {
  const command = folder.join('node_modules/.bin/user-group-service');
  const { token } = await createApiToken(folder, [], { command });
  await using service = await serve(folder, { command });
  const body = { user_group_id: 'one', name: 'One', properties: { plan: 'gold' } };
  const made = await service.call(token, 'GET', '/api/user', body);
  assert.equal(made.json.new_user_group, true);
  const resolved = await service.call(token, 'POST', '/v1/resolve', { token: made.json.user_group.token });
  assert.equal(resolved.json.user_group.provided_id, 'one');
  service.signal('SIGTERM');
  assert.equal((await service.exit()).code, 0);
}

function assertHoldsOnlyWhatRuns(folder: Folder): void {
  const files = globSync('**/*', { cwd: folder.join(INSTALLED), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
  const strange = files.filter((name) => !/\.(?:js|sql|css|md)$|^package\.json$|^LICENSE$/.test(name));
  assert.deepEqual(strange, []);
  assert.ok(files.some((name) => name.endsWith('.sql')));
  assert.deepEqual(
    files.filter((name) => name.includes('.test.')),
    [],
  );
}
