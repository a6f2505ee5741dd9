// `npm run release`: what it refuses, and the parts of a release that need no Debian tools.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { fillPackage } from '../../scripts/release/debian.ts';
import { dependencies, licenseTexts, refuseLicenses } from '../../scripts/release/dependency.ts';
import { eventFileSchema } from '../../scripts/release/description.ts';
import { isInstalled } from '../../scripts/release/run.ts';
import { releasedVersion } from '../../scripts/release/state.ts';
import { THREAD_FILES } from '../../src/system/start-thread.ts';
import { copyCheckout } from '../support/clone.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { Folder } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const VERSION = releasedVersion();
const noMinisign = !isInstalled('minisign') && 'minisign is not installed';

interface Result {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Checkout with one commit. */
class Checkout extends Folder {
  readonly root = this.join('clone');

  constructor() {
    super();
    copyCheckout(this.root);
    writeFileSync(`${this.root}/.gitignore`, 'node_modules\ndist\nrelease\n');
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
    for (const args of [
      ['init', '--quiet'],
      ['add', '--all'],
      [...identity, 'commit', '--quiet', '--message=all'],
    ])
      assert.equal(this.run('git', args).status, 0);
  }

  run(command: string, args: readonly string[], env = process.env): Result {
    return spawnSync(command, args, { cwd: this.root, encoding: 'utf8', env });
  }

  release(args: readonly string[], env?: NodeJS.ProcessEnv): Result {
    return this.run(process.execPath, ['scripts/release/main.ts', ...args], env);
  }
}

describe('npm run release', () => {
  let checkout: Checkout;
  before(() => {
    checkout = new Checkout();
  });
  after(() => checkout[Symbol.dispose]());

  it('refuses a version that the changelog says is not released, and builds nothing', () => {
    const { status, stderr } = checkout.release(['--only', 'descriptions']);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^release: CHANGELOG\.md says "0\.1\.0, not released" .*--rehearsal builds it anyway\n$/,
    );
    assert.equal(existsSync(`${checkout.root}/release`), false);
  });

  it('finds an entry for the version in the changelogs of the service and of the client', () => {
    for (const path of ['CHANGELOG.md', 'client/CHANGELOG.md']) {
      const [heading] = /^## .*$/m.exec(readFileSync(`${checkout.root}/${path}`, 'utf8')) ?? [];
      assert.match(heading ?? '', new RegExp(`^## ${VERSION}, (?:not released|\\d{4}-\\d\\d-\\d\\d)$`), path);
    }
  });

  it('refuses a checkout with changes, even for a rehearsal', () => {
    const note = `${checkout.root}/note.md`;
    writeFileSync(note, '');
    const { status, stderr } = checkout.release(['--rehearsal', '--only', 'descriptions']);
    rmSync(note);
    assert.equal(status, 1);
    assert.match(stderr, /^release: the checkout has changes; commit them first:\n\?\? note\.md\n$/);
  });

  it('refuses published packages with different versions', () => {
    const chart = `${checkout.root}/deploy/helm/user-group-service/Chart.yaml`;
    const text = readFileSync(chart, 'utf8');
    writeFileSync(chart, text.replace(`appVersion: ${VERSION}`, 'appVersion: 9.9.9'));
    const { status, stderr } = checkout.release(['--rehearsal', '--only', 'descriptions']);
    writeFileSync(chart, text);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^release: package\.json has version \S+, deploy\S+Chart\.yaml for the image 9\.9\.9\n$/,
    );
  });

  it('refuses an installed dependency that is not that of package-lock.json, as npm pack does', () => {
    const manifest = `${checkout.root}/node_modules/pg/package.json`;
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace(/"version": ".*"/, '"version": "0.0.1"'));
    const release = checkout.release(['--rehearsal', '--only', 'descriptions']);
    const pack = checkout.run('npm', ['pack', '--dry-run']);
    writeFileSync(manifest, text);
    assert.equal(release.status, 1);
    const message = /node_modules\/pg has version 0\.0\.1, package-lock\.json \S+: run "npm ci" first\n/;
    assert.match(release.stderr, new RegExp(`^release: ${message.source}$`));
    assert.notEqual(pack.status, 0);
    assert.match(pack.stderr, message);
  });

  it('names the Debian package of a program that is missing', () => {
    const args = ['--rehearsal', '--only', 'executable'];
    const { status, stderr } = checkout.release(args, { ...process.env, PATH: '/nonexistent' });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^release: tar is missing: install the Debian package tar, or leave out executable with --only\n$/,
    );
  });

  it('refuses a key for signatures that it cannot read, before it builds', { skip: noMinisign }, () => {
    const args = ['--rehearsal', '--only', 'descriptions', '--minisign-key', '../missing'];
    const { status, stdout, stderr } = checkout.release(args);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^release: cannot read the key: ENOENT: .* '\.\.\/missing'\n$/);
  });

  it('builds the same bytes twice and lists every file with its digest', () => {
    const { status, stdout, stderr } = checkout.release([
      '--rehearsal',
      '--verify',
      '--only',
      'descriptions',
      'sbom',
    ]);
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /both builds have the same bytes in all 6 files/);
    const sums = readFileSync(`${checkout.root}/release/SHA256SUMS`, 'utf8').trim().split('\n');
    assert.equal(sums.length, 6);
    for (const line of sums) {
      const [digest = '', name = ''] = line.split('  ');
      assert.match(stdout, new RegExp(`^${name} +[0-9.]+ MB +${digest}$`, 'm'));
    }
  });

  it('lists each dependency and Node as a required part of the application', () => {
    const path = `${checkout.root}/release/user-group-service-${VERSION}.cdx.json`;
    const { metadata, components } = JSON.parse(readFileSync(path, 'utf8'));
    assert.equal(metadata.component.type, 'application');
    const listed = (parts: Record<string, string>[]) =>
      new Set(parts.map(({ name, version, scope = 'required' }) => `${scope} ${name} ${version}`));
    const node = { name: 'node', version: process.versions.node };
    assert.deepEqual(
      listed(components),
      listed([...dependencies().map(({ name, version }) => ({ name, version })), node]),
    );
  });
});

describe('The digests of a release', () => {
  it('are signed with the key of the maintainer, and the signature is verified as documented', {
    skip: noMinisign,
  }, () => {
    using checkout = new Checkout();
    const keys = ['-p', '../user-group-service.pub', '-s', '../key'];
    assert.equal(checkout.run('minisign', ['-G', '-W', ...keys]).status, 0);
    const args = ['--rehearsal', '--only', 'descriptions', '--minisign-key', '../key'];
    assert.equal(checkout.release(args).status, 0);
    const verify = ['-V', '-p', '../user-group-service.pub', '-m', 'release/SHA256SUMS'];
    assert.equal(checkout.run('minisign', verify).status, 0);
    writeFileSync(`${checkout.root}/release/SHA256SUMS`, 'changed');
    assert.notEqual(checkout.run('minisign', verify).status, 0);
  });
});

describe('The npm packages', () => {
  let checkout: Checkout;
  before(() => {
    checkout = new Checkout();
    const release = 'umask 077; chmod -R go= docs README.md client node_modules/minimist; exec "$0" "$@"';
    const args = [process.execPath, 'scripts/release/main.ts', '--rehearsal', '--only', 'npm'];
    const { status, stderr } = checkout.run('sh', ['-c', release, ...args]);
    assert.equal(status, 0, stderr);
  });
  after(() => checkout[Symbol.dispose]());

  /** Returns the files of a package, without the folder `package/`. */
  function contents(name: string): string[] {
    const { stdout } = checkout.run('tar', ['--list', '--file', `release/${name}-${VERSION}.tgz`]);
    return stdout
      .trim()
      .split('\n')
      .map((path) => path.slice('package/'.length))
      .sort();
  }

  it('have the same modes, whatever the umask of the checkout and of the build', () => {
    for (const name of ['user-group-service', 'user-group-service-client']) {
      const { stdout } = checkout.run('tar', ['-tvf', `release/${name}-${VERSION}.tgz`]);
      assert.doesNotMatch(stdout, /^-(?!rw-r--r--|rwxr-xr-x)/m);
    }
  });

  it('contain the compiled client with its types, and nothing else', () => {
    const texts = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
    const modules = globSync('**/*.ts', { cwd: join(checkout.root, 'client/src') });
    const code = modules.flatMap((path) =>
      ['.js', '.d.ts'].map((each) => `dist/${path.replace(/\.ts$/, each)}`),
    );
    assert.deepEqual(contents('user-group-service-client'), [...texts, ...code].sort());
  });

  it('contain the code of the service without tests, types and source maps', () => {
    const files = contents('user-group-service').filter((path) => !path.startsWith('node_modules/'));
    const scripts = /^dist\/(?:http\/docs\/(?:setup|swagger-ui\/.*)|console\/console)\.js$/;
    const code = files.filter((path) => /^dist\/(?!chunks\/).*\.js$/.test(path) && !scripts.test(path));
    assert.deepEqual(code, ['main', ...THREAD_FILES].map((name) => `dist/${name}.js`).sort());
    const folders = new Set(files.map((path) => path.split('/')[0]!));
    const texts = [
      'bin',
      'dist',
      'docs',
      'deploy',
      'examples',
      'client',
      'bench',
      'LICENSE',
      'compose.yaml',
      'package.json',
    ];
    assert.deepEqual(
      [...folders].filter((each) => !texts.includes(each) && !/^[A-Z_]+\.md$/.test(each)),
      [],
    );
    assert.deepEqual(
      files.filter((path) => /\.(?:map|d\.ts|test\.ts)$/.test(path)),
      [],
    );
  });
});

describe('The Debian package', () => {
  it('has the same modes, whatever the umask of the build', async () => {
    using folder = new Folder();
    const root = folder.join('root');
    const built = folder.join('executable/x64');
    mkdirSync(built, { recursive: true });
    for (const name of ['user-group-service', 'LICENSES']) writeFileSync(join(built, name), '');
    const umask = process.umask(0o077);
    try {
      const release = { version: VERSION, commit: '', epoch: 0, output: folder.path, work: folder.path };
      await fillPackage(root, 'x64', release);
    } finally {
      process.umask(umask);
    }
    const paths = [root, ...globSync('**', { cwd: root }).map((path) => join(root, path))];
    const modes = new Set(paths.map((path) => statSync(path).mode.toString(8)));
    assert.deepEqual(modes, new Set(['40755', '100755', '100644']));
  });
});

describeOnEachDatabase('The schema of events', (kind) => {
  const service = TestService.of(kind);

  it('accepts an event of the service, and no other object', async () => {
    await service.get({ user_group_id: 'one', name: 'One', properties: { plan: 'gold' } });
    await service.put({ user_group_id: 'one', properties: { plan: 'silver' } });
    const { events } = (await service.call('GET', '/v1/events')).json;
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(eventFileSchema);
    assert.ok(events.some(({ type }: { type: string }) => type === 'user_group.updated'));
    for (const event of events) assert.ok(validate(event), JSON.stringify(validate.errors));
    assert.equal(validate({ type: 'user_group.updated' }), false);
  });
});

describe('The dependencies of a release', () => {
  it('have a licence text each, and so has what Swagger UI bundles', () => {
    const texts = licenseTexts('licence of Node');
    assert.doesNotMatch(texts, /=\n\n\n/);
    assert.match(texts, /^pg-types 2\S+ MIT\n=+\n\n## license\n\nThe MIT License/m);
    assert.match(texts, /@license DOMPurify/);
  });

  it('have licences that allow their distribution', () => {
    const all = dependencies();
    assert.ok(all.length > 80);
    refuseLicenses(all);
  });

  it('are refused with another licence', () => {
    const [dependency] = dependencies();
    const refused = { ...dependency!, license: 'GPL-3.0-only' };
    assert.throws(() => refuseLicenses([refused]), /does not allow: .*\(GPL-3\.0-only\)/);
    refuseLicenses([{ ...dependency!, license: '(GPL-3.0-only OR MIT)' }]);
  });
});
