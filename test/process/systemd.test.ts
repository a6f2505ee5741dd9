// deploy/systemd: systemd accepts the unit and rates its confinement, and its values fit the settings.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { exitCodes } from '../../src/commands/exit-code.ts';
import { settings } from '../../src/config.ts';
import { Folder, run } from '../support/process.ts';

const UNIT = 'deploy/systemd/user-group-service@.service';
const USER = 'deploy/systemd/user-group-service.conf';
const unit = readFileSync(UNIT, 'utf8');
const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;
const skip = !isInstalled && 'systemd-analyze is not installed';
/** Out of 10; systemd calls 2 and less OK. */
const MAX_EXPOSURE = 2;

/** The values of a directive. */
function valuesOf(directive: string): string[] {
  return Array.from(unit.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm')), ([, value]) => value!);
}

describe('The systemd unit', () => {
  /** Runs systemd-analyze on an instance of the unit. */
  function analyze(...args: string[]): ReturnType<typeof spawnSync> & { stdout: string; stderr: string } {
    using folder = new Folder();
    const instance = folder.join('user-group-service@8081.service');
    copyFileSync(UNIT, instance);
    return spawnSync('systemd-analyze', [...args, '--no-pager', instance], { encoding: 'utf8' });
  }

  it('is valid', { skip }, () => {
    const { status, stdout, stderr } = analyze('verify');
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
  });

  it('is confined', { skip }, (t) => {
    const { stdout } = analyze('security', '--offline=yes');
    const [summary = '', exposure] = /^.*Overall exposure level for \S+: ([\d.]+).*$/m.exec(stdout) ?? [];
    t.diagnostic(summary);
    assert.ok(Number(exposure) <= MAX_EXPOSURE, stdout);
  });

  it('sets only known settings, and reads secrets from its credentials', () => {
    const known = Object.values(settings).flatMap(({ env }) => [env, `${env}_FILE`]);
    const variables = valuesOf('Environment').flatMap((value) =>
      value.split(' ').map((each) => each.split('=')),
    );
    const credentials = valuesOf('LoadCredential').map((value) => value.split(':')[0]!);
    for (const [name = '', value = ''] of variables) {
      assert.ok(name === 'NODE_ENV' || known.includes(name), name);
      if (name.endsWith('_FILE')) assert.ok(credentials.includes(value.replace('%d/', '')), value);
    }
    assert.equal(variables.filter(([name]) => name!.endsWith('_FILE')).length, credentials.length);
  });

  it('gives a process enough time for a graceful shutdown, and enough files', () => {
    const shutdownMs =
      Number(settings.shutdownDelayMs.fallback) + Number(settings.shutdownTimeoutMs.fallback);
    assert.ok(Number(valuesOf('TimeoutStopSec')[0]) * 1_000 > shutdownMs);
    assert.ok(Number(valuesOf('LimitNOFILE')[0]) >= Number(settings.maxConnections.fallback) + 100);
  });

  it('restarts a process unless the exit code says that it would fail again', () => {
    const codes = valuesOf('RestartPreventExitStatus')[0]!.split(' ').map(Number);
    assert.deepEqual(codes, [exitCodes.usage, exitCodes.config]);
    assert.deepEqual(valuesOf('Restart'), ['on-failure']);
  });

  it('starts a command that exists, as a user that its other file creates', async () => {
    const [command = ''] = valuesOf('ExecStart');
    assert.match(command, /^\/usr\/bin\/env user-group-service serve$/);
    using folder = new Folder();
    assert.equal((await run(folder, ['serve', '--help'])).code, 0);
    const user = valuesOf('User')[0]!;
    assert.match(
      readFileSync(USER, 'utf8'),
      new RegExp(`^u ${user} - "[^"]+" /var/lib/${valuesOf('StateDirectory')[0]}$`, 'm'),
    );
  });
});
