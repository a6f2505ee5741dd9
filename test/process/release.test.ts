// `npm run release`: what it refuses, and what the parts of a release contain that need no tool of Debian.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { dependencies, refuseLicenses } from '../../scripts/release/dependency.ts';
import { eventSchema } from '../../scripts/release/description.ts';
import { copyCheckout } from '../support/clone.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { Folder } from '../support/process.ts';
import { TestService } from '../support/service.ts';

interface Result {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** A checkout with one commit. */
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

  it('refuses a checkout with changes, also for a rehearsal', () => {
    const note = `${checkout.root}/note.md`;
    writeFileSync(note, '');
    const { status, stderr } = checkout.release(['--rehearsal', '--only', 'descriptions']);
    rmSync(note);
    assert.equal(status, 1);
    assert.match(stderr, /^release: the checkout has changes; commit them first:\n\?\? note\.md\n$/);
  });

  it('names the Debian package of a program that is missing', () => {
    const args = ['--rehearsal', '--only', 'executable'];
    const { status, stderr } = checkout.release(args, { ...process.env, PATH: '/nonexistent' });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^release: tar is missing: install the Debian package tar, or pass --skip executable\n$/,
    );
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
});

describeOnEachDatabase('The schema of events', (kind) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(kind);
  });
  after(() => service.stop());

  it('accepts an event of the service, and no other object', async () => {
    await service.get({ user_group_id: 'one', name: 'One', properties: { plan: 'gold' } });
    await service.put({ user_group_id: 'one', properties: { plan: 'silver' } });
    const { events } = (await service.call('GET', '/v1/events')).json;
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(eventSchema());
    assert.ok(events.some(({ type }: { type: string }) => type === 'user_group.updated'));
    for (const event of events) assert.ok(validate(event), JSON.stringify(validate.errors));
    assert.equal(validate({ type: 'user_group.updated' }), false);
  });
});

describe('The dependencies of a release', () => {
  it('have licences that allow to distribute them', () => {
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
