// GitHub workflows, and the guard against accidental publication.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const actionlint = process.env.ACTIONLINT ?? 'actionlint';
const isMissing = spawnSync(actionlint, ['-version']).error !== undefined;

describe('The workflows', () => {
  it('are accepted by actionlint', { skip: isMissing && 'needs actionlint in PATH or in ACTIONLINT' }, () => {
    const { status, stdout } = spawnSync(actionlint, ['-no-color'], { cwd: ROOT, encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  });

  it('pin every action to a commit, and call scripts of this repository', () => {
    const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    for (const path of globSync('.github/workflows/*.yml', { cwd: ROOT })) {
      const { jobs } = parse(readFileSync(`${ROOT}${path}`, 'utf8'));
      const steps = Object.values<{ steps: { uses?: string; run?: string }[] }>(jobs).flatMap(
        (job) => job.steps,
      );
      for (const { uses, run } of steps) {
        if (uses !== undefined) assert.match(uses, /@[0-9a-f]{40}$/);
        const [, script] = /^npm run (\S+)$/.exec(run ?? '') ?? [];
        if (script !== undefined) assert.ok(script in manifest.scripts, script);
      }
    }
  });
});

describe('npm publish', () => {
  for (const folder of ['.', 'client'])
    it(`is refused in ${folder} unless the release is explicit`, () => {
      const args = ['publish', '--dry-run', '--ignore-scripts=false'];
      const { status, stderr } = spawnSync('npm', args, { cwd: `${ROOT}${folder}`, encoding: 'utf8' });
      assert.notEqual(status, 0);
      assert.match(stderr, /refusing to publish user-group-service/);
    });
});
