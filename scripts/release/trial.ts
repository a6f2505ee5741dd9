// `npm run rig:release`: starts each artefact in `release/` for this architecture in an environment without
// anything else, and sends the first request of the README. Runs as root, with the programs that the trials
// name. An argument, such as `OCI`, selects the trials whose names contain it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { send } from '../../test/support/http.ts';
import { Folder, Program, served } from '../../test/support/process.ts';

const RELEASE = resolve('release');
/** Commit whose `npm start` made a data directory that this version must be able to use. */
const EARLIER = 'a54e7b1';
const DEBIAN_SUITE = 'bookworm';
const LIMIT_MS = 120_000;
/** Runs a bundle. crun refuses a machine with both versions of control groups, so it gets to see only one. */
const RUN_IMAGE =
  'mount -t cgroup2 none /sys/fs/cgroup && exec crun --cgroup-manager=disabled run --bundle "$0" "$1"';

const trials: Record<string, (folder: Folder) => Promise<void>> = {
  'npm package, with its dependencies and Node': tryNpmPackage,
  'executable, without any other program': tryExecutable,
  'executable for arm64, under qemu': tryArm64,
  'executable, with data of an earlier version': tryUpgrade,
  'OCI image, with a read-only root': tryImage,
  'Debian package: install, upgrade, go back, remove, purge': tryDebianPackage,
};

const [part = ''] = process.argv.slice(2);
for (const [name, run] of Object.entries(trials).filter(([name]) => name.includes(part))) {
  using folder = new Folder();
  const startedAt = performance.now();
  await run(folder);
  console.log(`ok  ${name} (${((performance.now() - startedAt) / 1_000).toFixed(0)} s)`);
}

/** Returns the artefact whose name ends with `end`. */
function artefact(end: string): string {
  const [name] = globSync(`*${end}`, { cwd: RELEASE });
  if (name === undefined) throw new Error(`release/ has no *${end}: run "npm run release" first`);
  return join(RELEASE, name);
}

function shell(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function unpackExecutable(folder: Folder, architecture: string): string {
  shell(
    'tar',
    '-xzf',
    artefact(`-linux-${architecture}.tar.gz`),
    '--directory',
    folder.path,
    '--strip-components=2',
  );
  return folder.join('user-group-service');
}

/** Runs `start`, preceded by the command, until it has answered; the data is in `data` of the folder. */
async function start(folder: Folder, command: string, args: readonly string[], isNew = true): Promise<void> {
  await using program = new Program(folder, args, { command, env: { PORT: '0', UGS_THREADS: '2' } });
  await program.says(/Press Ctrl-C to stop/);
  const [, url = ''] = await program.says(/Address +(http:\S+)/);
  const token = readFileSync(folder.join('data/api-token'), 'utf8').trim();
  await assertFirstRequest(url, token, isNew);
  program.signal('SIGTERM');
  assert.equal((await program.exit(LIMIT_MS)).code, 0);
}

/** Repeats the request while the service is too slow for it, as under qemu on a busy machine. */
async function assertFirstRequest(url: string, token: string, isNew = true): Promise<void> {
  const body = {
    user_group_id: 'customer-1',
    name: 'Acme',
    mapping: { 40: '213' },
    properties: { plan: 'gold', seats: 12 },
  };
  const { status, json, text } = await served(() => send(url, { path: '/api/user', token, body }));
  assert.equal(status, 200, text);
  assert.equal(json.new_user_group, isNew);
  assert.deepEqual(json.user_group.properties, body.properties);
}

async function tryNpmPackage(folder: Folder): Promise<void> {
  shell('npm', 'install', '--silent', '--prefix', folder.path, artefact('service-[0-9]*.tgz'));
  await start(folder, process.execPath, [
    folder.join('node_modules/user-group-service/bin/user-group-service.js'),
    'start',
  ]);
}

/**
 * Runs the executable in a root directory that contains only it and the libraries with which it is linked.
 */
async function tryExecutable(folder: Folder): Promise<void> {
  const path = unpackExecutable(folder, 'x64');
  const root = folder.join('root');
  const libraries = Array.from(shell('ldd', path).matchAll(/\/\S+/g), ([library]) => library);
  mkdirSync(root);
  shell('cp', '--dereference', '--parents', ...libraries, root);
  cpSync(path, join(root, 'program'));
  symlinkSync(join(root, 'data'), folder.join('data'));
  await start(folder, 'chroot', [root, '/program', 'start']);
}

async function tryArm64(folder: Folder): Promise<void> {
  const path = unpackExecutable(folder, 'arm64');
  const libraries = join(unpackImage(folder, 'arm64'), 'rootfs');
  await start(folder, 'qemu-aarch64-static', ['-L', libraries, path, 'start']);
}

async function tryUpgrade(folder: Folder): Promise<void> {
  const path = unpackExecutable(folder, 'x64');
  const earlier = folder.join('earlier');
  shell('git', 'clone', '--quiet', '.', earlier);
  shell('git', '-C', earlier, 'checkout', '--quiet', EARLIER);
  symlinkSync(resolve('node_modules'), join(earlier, 'node_modules'));
  await start(folder, process.execPath, [join(earlier, 'bin/user-group-service.js'), 'start']);
  await start(folder, path, ['start'], false);
}

/** Returns the bundle, whose folder `rootfs` contains the files of the image. */
function unpackImage(folder: Folder, architecture: string): string {
  const layout = folder.join('oci');
  mkdirSync(layout, { recursive: true });
  shell('tar', '-xf', artefact('-oci.tar'), '--directory', layout);
  const bundle = folder.join('bundle');
  const image = ['--override-os=linux', `--override-arch=${architecture}`];
  shell('skopeo', ...image, 'copy', '--quiet', `oci:${layout}`, `oci:${folder.join('one')}:one`);
  shell('umoci', 'unpack', '--image', `${folder.join('one')}:one`, bundle);
  return bundle;
}

/** Runs crun with what umoci derives from the image: user, environment, working directory. */
async function tryImage(folder: Folder): Promise<void> {
  const bundle = unpackImage(folder, 'amd64');
  const path = join(bundle, 'config.json');
  const config = JSON.parse(readFileSync(path, 'utf8'));
  const data = folder.join('data');
  mkdirSync(data);
  shell('chown', '1000:1000', data);
  assert.deepEqual([config.process.user.uid, config.process.user.gid], [1000, 1000]);
  assert.deepEqual(config.process.args, ['/usr/bin/user-group-service', 'serve']);
  const packages = globSync('*', { cwd: join(bundle, 'rootfs/var/lib/dpkg/status.d') });
  const described = globSync('*', { cwd: join(bundle, 'rootfs/usr/share/doc') });
  assert.deepEqual([...packages, 'user-group-service'].sort(), described.sort());
  config.root.readonly = true;
  config.process.terminal = false;
  config.process.noNewPrivileges = true;
  config.process.capabilities = {};
  config.process.args = ['/usr/bin/user-group-service', 'start'];
  config.process.env.push('PORT=0', 'HOST=127.0.0.1');
  // Keeps the loopback interface of this machine.
  config.linux.namespaces = config.linux.namespaces.filter(
    ({ type }: { type: string }) => type !== 'network',
  );
  const volume = { destination: '/var/lib/user-group-service/data', source: data, options: ['bind', 'rw'] };
  config.mounts.push(volume);
  writeFileSync(path, JSON.stringify(config));
  await start(folder, 'unshare', [
    '--mount',
    'sh',
    '-c',
    RUN_IMAGE,
    bundle,
    `user-group-service-${process.pid}`,
  ]);
}

async function tryDebianPackage(folder: Folder): Promise<void> {
  const root = folder.join('root');
  const include = '--include=systemd-standalone-sysusers,init-system-helpers';
  shell('mmdebstrap', '--quiet', '--variant=apt', include, DEBIAN_SUITE, root);
  const inRoot = (...args: string[]) => shell('chroot', root, ...args);
  const apt = (...args: string[]) =>
    inRoot('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '--quiet=2', '--yes', ...args);
  cpSync(artefact('_amd64.deb'), join(root, 'package.deb'));
  // mmdebstrap has deleted the lists in which apt finds the dependencies of the package.
  apt('update');
  apt('install', '/package.deb');
  const config = join(root, 'etc/user-group-service');
  const keys = readFileSync(join(config, 'token-keys'), 'utf8');
  const files = inRoot('dpkg', '--listfiles', 'user-group-service').split('\n');
  for (const shown of [
    'man/man1/user-group-service.1.gz',
    'bash-completion/completions/user-group-service',
    'doc/user-group-service/docs/monitor.md',
  ])
    assert.ok(files.includes(`/usr/share/${shown}`), shown);
  assert.deepEqual(modes(root), { 'token-keys': '640', 'database-url': '640', config: '2750', data: '700' });
  await serveInstalled(folder, root, true);

  nextPackage(folder, root);
  apt('install', '/next.deb');
  assert.match(inRoot('dpkg', '--status', 'user-group-service'), /^Version: .*\+next$/m);
  assert.equal(readFileSync(join(config, 'token-keys'), 'utf8'), keys);
  await serveInstalled(folder, root, false);

  apt('install', '--allow-downgrades', '/package.deb');
  assert.doesNotMatch(inRoot('dpkg', '--status', 'user-group-service'), /\+next/);
  assert.equal(readFileSync(join(config, 'token-keys'), 'utf8'), keys);
  await serveInstalled(folder, root, false);

  apt('remove', 'user-group-service');
  assert.equal(readFileSync(join(config, 'token-keys'), 'utf8'), keys);
  assert.ok(statSync(join(root, 'var/lib/user-group-service/user-groups.db')).size > 0);
  const enabled = join(root, 'etc/systemd/system/multi-user.target.wants');
  mkdirSync(enabled, { recursive: true });
  symlinkSync(
    '/lib/systemd/system/user-group-service@.service',
    join(enabled, 'user-group-service@8080.service'),
  );
  apt('purge', 'user-group-service');
  assert.deepEqual(globSync('*', { cwd: config }), ['token-keys']);
  assert.deepEqual(globSync('user-group-service@*', { cwd: enabled }), []);
  assert.ok(statSync(join(root, 'var/lib/user-group-service/user-groups.db')).size > 0);
}

function modes(root: string): Record<string, string> {
  const mode = (path: string) => (statSync(join(root, path)).mode & 0o7777).toString(8);
  return {
    'token-keys': mode('etc/user-group-service/token-keys'),
    'database-url': mode('etc/user-group-service/database-url'),
    config: mode('etc/user-group-service'),
    data: mode('var/lib/user-group-service'),
  };
}

/** Builds the same package with a later version. */
function nextPackage(folder: Folder, root: string): void {
  const content = folder.join('content');
  shell('dpkg-deb', '--raw-extract', join(root, 'package.deb'), content);
  const control = join(content, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^(Version: .*)$/m, '$1+next'));
  shell('dpkg-deb', '--build', '--root-owner-group', '-Zgzip', '-z1', content, join(root, 'next.deb'));
}

/** Serves as the unit does: as the user of the package, in its data directory, with the files in /etc. */
async function serveInstalled(folder: Folder, root: string, isNew: boolean): Promise<void> {
  const files =
    'DATABASE_URL_FILE=/etc/user-group-service/database-url UGS_TOKEN_KEYS_FILE=/etc/user-group-service/token-keys';
  const command = (line: string) =>
    `cd /var/lib/user-group-service && exec env -i PATH=/usr/bin ${files} PORT=0 user-group-service ${line}`;
  const user = ['--reuid=user-group-service', '--regid=user-group-service', '--init-groups'];
  // setpriv becomes the program and so gets the signal; runuser would be its parent.
  const asUser = (line: string) =>
    ['chroot', root, 'setpriv', ...user, '--', 'sh', '-c', command(line)] as const;
  const [chroot, ...create] = asUser('api-token create --workspace default --json');
  const { token } = JSON.parse(shell(chroot, ...create));
  const [, ...serve] = asUser('serve');
  await using program = new Program(folder, serve, { command: chroot });
  const [, url = ''] = await program.says(/"url":"(http:[^"]+)"/);
  await assertFirstRequest(url, token, isNew);
  program.signal('SIGTERM');
  assert.equal((await program.exit()).code, 0);
}
