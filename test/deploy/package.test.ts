// The package: packed in a clone, installed with the commands of docs/deploy.md, and run as an installed
// command.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { satisfies } from 'semver';
import { copyCheckout } from '../support/clone.ts';
import { blocksUnder } from '../support/page.ts';
import { createApiToken, type Exit, Folder, Program, serve } from '../support/process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGES = 'clone/global/lib/node_modules';
const INSTALLED = `${PACKAGES}/user-group-service`;
const COMMAND = 'clone/global/bin/user-group-service';
const LIMIT_MS = 120_000;

/**
 * Runs a script in the clone with the environment of the machine, which configures npm's registry and cache.
 */
async function shell(folder: Folder, script: string): Promise<Exit> {
  const env = {
    ...(process.env as Record<string, string>),
    PATH: [folder.join('clone/global/bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
    npm_config_prefix: folder.join('clone/global'),
    npm_config_offline: 'true',
    npm_config_ignore_scripts: 'false',
  };
  const args = ['-euo', 'pipefail', '-c', `cd clone; ${script}`];
  await using program = new Program(folder, args, { command: 'bash', env });
  const exit = await program.exit(LIMIT_MS);
  assert.equal(exit.code, 0, exit.stderr);
  return exit;
}

/** Returns a Node on this machine that is too old for the service; undefined if there is none. */
function findOldNode(): string | undefined {
  const nodes = (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'node'))
    .filter((path) => existsSync(path) && !path.includes('node_modules'));
  return nodes.find((path) => {
    const version = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout.trim();
    return satisfies(version, '<24.17');
  });
}

describe('The package', () => {
  const folder = Folder.of();
  let installation: Exit;
  before(async () => {
    const [pack = '', install = ''] = blocksUnder('docs/deploy.md', 'Pack and install');
    // Uses the dependencies of this checkout instead of the network.
    assert.match(pack, /^npm ci\n/);
    copyCheckout(folder.join('clone'));
    await shell(folder, pack.replace('npm ci\n', ''));
    installation = await shell(folder, `umask 077; ${install}`);
  });

  it('prints its version and serves after installation', { timeout: LIMIT_MS }, async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    assert.equal(installation.stdout.split('\n').at(-2), version);
    await assertServes(folder);
    assertContents(folder);
    assertLinksResolve(folder.join(INSTALLED));
  });

  it('shows its pages after another version was installed over the running one', async () => {
    await using service = await serve(folder, { command: folder.join(COMMAND) });
    // The files of another version have other names.
    const code = folder.join(INSTALLED, 'dist/chunks');
    renameSync(code, `${code}-renamed`);
    await assertShowsDocs(service.url);
    for (const path of ['/errors', '/console/sign-in'])
      assert.equal((await fetch(service.url + path)).status, 200, path);
    renameSync(`${code}-renamed`, code);
  });

  it('can be run by every user, even if root has a strict umask', () => {
    for (const path of ['clone/global/bin', PACKAGES, COMMAND, `${INSTALLED}/node_modules/pg/package.json`]) {
      const { mode } = statSync(folder.join(path));
      const needed = path.endsWith('.json') ? 0o444 : 0o555;
      assert.equal(mode & needed, needed, path);
    }
  });

  it('contains its dependencies in the versions of the lock file', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const manifests = globSync('node_modules/{*,@*/*}{,/node_modules/*}/package.json', {
      cwd: folder.join(INSTALLED),
    });
    assert.ok(manifests.length > 20, `${manifests.length}`);
    for (const manifest of manifests) {
      const { version } = JSON.parse(readFileSync(folder.join(INSTALLED, manifest), 'utf8'));
      assert.equal(version, packages[dirname(manifest)]?.version, manifest);
    }
  });

  it('lists its dependencies as bundled by their names, because Yarn 1 fails without', () => {
    const { bundleDependencies, dependencies } = JSON.parse(
      readFileSync(folder.join(INSTALLED, 'package.json'), 'utf8'),
    );
    assert.deepEqual(bundleDependencies, Object.keys(dependencies));
  });

  it('has its manual page where man finds it', () => {
    const page = readFileSync(folder.join('clone/global/share/man/man1/user-group-service.1'), 'utf8');
    assert.match(page, /^\.TH USER-GROUP-SERVICE 1/im);
  });

  const oldNode = findOldNode();
  it('says in one line which Node it needs and how to get it', {
    skip: oldNode === undefined && 'needs a Node before 24.17 in PATH',
  }, async () => {
    const bin = folder.join(INSTALLED, 'bin/user-group-service.js');
    await using program = new Program(folder, [bin, '--version'], { command: oldNode! });
    const { code, stdout, stderr } = await program.exit();
    assert.deepEqual([code, stdout], [78, '']);
    assert.match(stderr, /^user-group-service: Node 24\.17 or later is required, .* https:\S+ [^\n]*\n$/);
  });

  it('declares the Node that it needs, and the clone keeps its manifest', () => {
    const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
    const { engines } = read(folder.join(INSTALLED, 'package.json'));
    assert.deepEqual(engines, { node: '>=24.17' });
    assert.deepEqual(read(folder.join('clone/package.json')), read(join(ROOT, 'package.json')));
  });

  it('installs no reporter of installations, and nothing that runs a script', () => {
    const manifests = globSync('**/node_modules/{*,@*/*}/package.json', { cwd: folder.join(PACKAGES, '..') });
    assert.ok(manifests.length > 20, `${manifests.length}`);
    for (const manifest of manifests) {
      assert.doesNotMatch(manifest, /@scarf/);
      const path = folder.join(PACKAGES, '..', manifest);
      const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8'));
      const ran = ['preinstall', 'install', 'postinstall'].filter((name) => name in scripts);
      assert.deepEqual(ran, [], manifest);
      assert.equal(existsSync(join(dirname(path), 'binding.gyp')), false, manifest);
    }
  });

  it('has no production dependency in a clone that runs a script during the installation', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const production = Object.entries<{ dev?: boolean; hasInstallScript?: boolean }>(packages).filter(
      ([, { dev }]) => !dev,
    );
    const refused = production.filter(
      ([path, { hasInstallScript }]) => hasInstallScript || path.includes('@scarf'),
    );
    assert.deepEqual(refused, []);
  });
});

describe('A clone', () => {
  it('installs on Node 20 without a warning about engines', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const refused = Object.entries<{ version: string; optional?: boolean; engines?: { node?: string } }>(
      packages,
    )
      .filter(([, { optional, engines }]) => !optional && !satisfies('20.19.0', engines?.node ?? '*'))
      .map(([path, { version, engines }]) => `${path}@${version} needs Node ${engines?.node}`);
    assert.deepEqual(refused, []);
  });

  it('ends the service when "npm start" gets SIGTERM', async () => {
    using folder = new Folder();
    const args = ['--prefix', ROOT, 'start', '--', '--data', folder.join('data'), '--port', '0'];
    await using program = new Program(folder, args, { command: 'npm' });
    const [, url = ''] = await program.says(/Address +(http:\S+)/);
    program.signal('SIGTERM');
    assert.equal((await program.exit()).code, 0);
    await assert.rejects(fetch(url));
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
  const folder = Folder.of();
  before(() => copySources(folder));
  for (const [command = '', ...args] of commands) {
    it(`makes "${command} ${args.join(' ')}" fail with one line that says what to do`, async () => {
      await using program = new Program(folder, args, { command });
      const { code, stderr } = await program.exit(LIMIT_MS);
      assert.notEqual(code, 0);
      const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('npm '));
      assert.deepEqual(lines, [MESSAGE]);
    });
  }
});

describe('A clone whose dependencies were installed', () => {
  const oldNode = findOldNode();
  for (const [how, installed, node, commands] of [
    ['without their scripts', ['tsc'], oldNode, ['start', 'test']],
    ['without those for development', [], process.execPath, ['test']],
  ] as const)
    describe(how, () => {
      const skip = node === undefined && 'needs a Node before 24.17 in PATH';
      const folder = Folder.of();
      before(() => {
        copySources(folder);
        mkdirSync(folder.join('node_modules/.bin'), { recursive: true });
        for (const name of installed) writeFileSync(folder.join('node_modules/.bin', name), '');
      });
      for (const command of commands)
        it(`makes "npm ${command}" fail with one line that says what to do`, { skip }, async () => {
          const env = { PATH: [dirname(node!), process.env.PATH].join(delimiter) };
          await using program = new Program(folder, [command], { command: 'npm', env });
          const { code, stderr } = await program.exit(LIMIT_MS);
          assert.notEqual(code, 0);
          const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('npm '));
          assert.equal(lines.length, 1, stderr);
          assert.match(lines[0]!, /^user-group-service: .*"npm ci --include=dev --ignore-scripts=false"/);
        });
    });
});

/** Copies what a clone contains without its dependencies. */
function copySources(folder: Folder): void {
  for (const part of ['package.json', 'bin', 'scripts', 'src'])
    cpSync(join(ROOT, part), folder.join(part), { recursive: true });
}

async function assertServes(folder: Folder): Promise<void> {
  const command = folder.join(COMMAND);
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

/** Fetches the API description, /docs and its assets, some of which are copied from a dependency. */
async function assertShowsDocs(url: string): Promise<void> {
  const html = await (await fetch(`${url}/docs`)).text();
  const assets = Array.from(html.matchAll(/"(\/docs\/assets\/[^"]+)"/g), ([, path]) => path!);
  assert.equal(assets.length, 4);
  for (const path of [...assets, '/openapi.json']) assert.equal((await fetch(url + path)).status, 200, path);
}

const CODE =
  /^(?:bin|dist)\/.*\.(?:1|js|sql|css|svg)$|^dist\/http\/docs\/swagger-ui\/.*(?:LICENSE|NOTICE|LICENSE\.txt)$/;
const DOCUMENTATION =
  /^(?:docs|deploy|examples|client|bench)\/|^[A-Z_]+\.md$|^LICENSE$|^compose\.yaml$|^package\.json$/;

function assertContents(folder: Folder): void {
  const exclude = ({ name }: { name: string }) => name === 'node_modules';
  const files = globSync('**/*', { cwd: folder.join(INSTALLED), withFileTypes: true, exclude })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.join(INSTALLED).length + 1));
  const unexpected = files.filter((name) => !CODE.test(name) && !DOCUMENTATION.test(name));
  assert.deepEqual(unexpected, []);
  for (const name of ['docs/deploy.md', 'deploy/haproxy.cfg', 'compose.yaml'])
    assert.ok(files.includes(name), name);
  assert.ok(files.some((name) => name.endsWith('.sql')));
  assert.deepEqual(
    files.filter((name) => name.includes('.test.')),
    [],
  );
}

/** Asserts that relative links in all pages lead to files of the package. */
function assertLinksResolve(root: string): void {
  const links = globSync('**/*.md', { cwd: root, exclude: (name) => name === 'node_modules' }).flatMap(
    (page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)[)#]/g)].map(
        ([, path]) => ({
          page,
          path: path!,
        }),
      ),
  );
  assert.ok(links.length > 0);
  const dead = links.filter(({ page, path }) => {
    const target = resolve(root, dirname(page), path);
    return !`${target}${sep}`.startsWith(`${root}${sep}`) || !existsSync(target);
  });
  assert.deepEqual(dead, []);
}
