// The published package: packed, installed into an empty directory, and run as an installed command.

import assert from 'node:assert/strict';
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createApiToken, type Exit, Folder, Program, serve } from '../support/process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const INSTALLED = 'node_modules/user-group-service';
const LIMIT_MS = 60_000;

/** Runs npm with the environment of the machine, which configures its registry and cache. */
async function npm(folder: Folder, command: string, ...args: string[]): Promise<Exit> {
  await using program = new Program(folder, args, { command, env: process.env as Record<string, string> });
  const exit = await program.exit(LIMIT_MS);
  assert.equal(exit.code, 0, exit.stderr);
  return exit;
}

describe('The package', () => {
  it('prints its version and serves after installation', { timeout: LIMIT_MS }, async () => {
    using folder = new Folder();
    await npm(folder, 'npm', 'pack', ROOT);
    const [tarball = ''] = globSync('*.tgz', { cwd: folder.path });
    await npm(folder, 'npm', 'install', `./${tarball}`, '--ignore-scripts', '--prefer-offline', '--no-audit');

    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const { stdout } = await npm(folder, 'npx', '--no-install', 'user-group-service', '--version');
    assert.equal(stdout, `${version}\n`);
    await assertServes(folder);
    assertContents(folder);
    assertLinksResolve(folder.join(INSTALLED));
  });
});

describe('A clone without dependencies', () => {
  const MESSAGE = 'user-group-service: dependencies are not installed; run "npm ci" first';
  const commands = [
    ['npm', 'pack'],
    ['npm', 'test'],
    ['npm', 'start'],
    ['npm', 'run', 'check'],
    ['node', 'bin/user-group-service.js', '--version'],
  ];
  for (const [command = '', ...args] of commands) {
    it(`makes "${command} ${args.join(' ')}" fail with one line that says what to do`, async () => {
      using folder = new Folder();
      for (const part of ['package.json', 'bin', 'scripts', 'src'])
        cpSync(join(ROOT, part), folder.join(part), { recursive: true });
      await using program = new Program(folder, args, { command });
      const { code, stderr } = await program.exit(LIMIT_MS);
      assert.notEqual(code, 0);
      const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('npm '));
      assert.deepEqual(lines, [MESSAGE]);
    });
  }
});

async function assertServes(folder: Folder): Promise<void> {
  const command = folder.join('node_modules/.bin/user-group-service');
  const { token } = await createApiToken(folder, [], { command });
  await using service = await serve(folder, { command });
  const body = { user_group_id: 'one', name: 'One', properties: { plan: 'gold' } };
  const created = await service.call(token, 'GET', '/api/user', body);
  assert.equal(created.json.new_user_group, true);
  const resolved = await service.call(token, 'POST', '/v1/resolve', {
    token: created.json.user_group.token,
  });
  assert.equal(resolved.json.user_group.provided_id, 'one');
  await assertShowsDocs(service.url);
  service.signal('SIGTERM');
  assert.equal((await service.exit()).code, 0);
}

/** Fetches /docs and its assets, some of which come from a dependency. */
async function assertShowsDocs(url: string): Promise<void> {
  const html = await (await fetch(`${url}/docs`)).text();
  const assets = Array.from(html.matchAll(/"(\/docs\/assets\/[^"]+)"/g), ([, path]) => path!);
  assert.equal(assets.length, 4);
  for (const asset of assets) assert.equal((await fetch(url + asset)).status, 200, asset);
}

const CODE = /^(?:bin|dist)\/.*\.(?:js|sql|css)$/;
const DOCUMENTATION =
  /^(?:docs|deploy|examples|client|bench)\/|^[A-Z]+\.md$|^LICENSE$|^compose\.yaml$|^package\.json$/;

function assertContents(folder: Folder): void {
  const files = globSync('**/*', { cwd: folder.join(INSTALLED), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.join(INSTALLED).length + 1));
  const unexpected = files.filter((name) => !CODE.test(name) && !DOCUMENTATION.test(name));
  assert.deepEqual(unexpected, []);
  for (const name of ['docs/operations.md', 'deploy/haproxy.cfg', 'compose.yaml'])
    assert.ok(files.includes(name), name);
  assert.ok(files.some((name) => name.endsWith('.sql')));
  assert.deepEqual(
    files.filter((name) => name.includes('.test.')),
    [],
  );
}

/** Relative links in all pages must lead to files of the package. */
function assertLinksResolve(root: string): void {
  const links = globSync('**/*.md', { cwd: root }).flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, path]) => ({
      page,
      path: path!,
    })),
  );
  assert.ok(links.length > 0);
  const dead = links.filter(({ page, path }) => {
    const target = resolve(root, dirname(page), path);
    return !`${target}${sep}`.startsWith(`${root}${sep}`) || !existsSync(target);
  });
  assert.deepEqual(dead, []);
}
