// deploy/systemd: systemd accepts the unit and rates its confinement, and its values fit the settings.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { exitCodes } from '../../src/commands/exit-code.ts';
import { CLOSING_MS } from '../../src/commands/run-until-signal.ts';
import { settings } from '../../src/config.ts';
import { freePort } from '../support/connection/free-port.ts';
import { databaseOf, postgres } from '../support/database.ts';
import { Scrape } from '../support/metrics.ts';
import { Folder, run, serve } from '../support/process.ts';

const UNIT = 'deploy/systemd/user-group-service@.service';
const USER = 'deploy/systemd/user-group-service.conf';
const unit = readFileSync(UNIT, 'utf8');
const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;
const skip = !isInstalled && 'systemd-analyze is not installed';
/** Maximum exposure out of 10; systemd rates up to 2 as OK. */
const MAX_EXPOSURE = 2;

/** Returns the values of a directive. */
function valuesOf(directive: string): string[] {
  return Array.from(unit.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm')), ([, value]) => value!);
}

/**
 * Returns the environment that systemd gives an instance, with `folder` as /etc/user-group-service and as its
 * credentials.
 */
function environmentOf(instance: string, folder: Folder): Record<string, string> {
  const replaced = (text: string) => text.replaceAll('%i', instance).replaceAll('%d', folder.path);
  const assignments = valuesOf('Environment').flatMap((value) => replaced(value).split(' '));
  const files = valuesOf('EnvironmentFile').map((value) =>
    replaced(value).replace(/^-\/etc\/user-group-service/, folder.path),
  );
  const lines = files
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  return Object.fromEntries(
    [...assignments, ...lines.filter((line) => line !== '')].map((each) => {
      const at = each.indexOf('=');
      return [each.slice(0, at), each.slice(at + 1)];
    }),
  );
}

describe('Two instances of the systemd unit', () => {
  const folder = Folder.of();
  const database = databaseOf(postgres);
  let ports: string[];
  const write = (name: string, text: string) => writeFileSync(folder.join(name), text, { mode: 0o600 });
  const start = (port: string) => serve(folder, { env: environmentOf(port, folder) });

  before(async () => {
    write('database-url', database.url);
    write('token-keys', database.env.UGS_TOKEN_KEYS!);
    ports = [String(await freePort()), String(await freePort())];
  });

  async function assertExits75(port: string, message: RegExp): Promise<void> {
    const { code, stderr } = await run(folder, ['serve'], { env: environmentOf(port, folder) });
    assert.equal(code, 75);
    assert.match(stderr, message);
    assert.ok(!valuesOf('RestartPreventExitStatus')[0]!.split(' ').includes('75'));
  }

  it('serve side by side, each with the metrics of its own file', async () => {
    const addresses = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    write('environment', 'LOG_LEVEL=debug\nUGS_METRICS_ADDRESS=127.0.0.1:1\n');
    for (const [index, port] of ports.entries())
      write(`${port}.environment`, `UGS_METRICS_ADDRESS=${addresses[index]}\n`);
    await using first = await start(ports[0]!);
    await using second = await start(ports[1]!);
    for (const [index, service] of [first, second].entries()) {
      assert.equal(new URL(service.url).port, ports[index]);
      assert.equal((await service.send({ method: 'GET', path: '/readyz' })).status, 200);
      const scrape = await Scrape.of(`http://${addresses[index]}/metrics`);
      assert.equal(scrape.sum('user_group_service_ready'), 1);
    }
    await assertExits75(ports[0]!, /UGS_METRICS_ADDRESS .* is already in use/);
  });

  it('with one address of metrics: the second exits with 75, which systemd retries, until it is free', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    write('environment', `UGS_METRICS_ADDRESS=${address}\n`);
    for (const port of ports) rmSync(folder.join(`${port}.environment`), { force: true });
    {
      await using _first = await start(ports[0]!);
      await assertExits75(
        ports[1]!,
        new RegExp(
          `^user-group-service: UGS_METRICS_ADDRESS ${address} is already in use; each process needs`,
        ),
      );
    }
    await using second = await start(ports[1]!);
    assert.equal((await second.send({ method: 'GET', path: '/healthz' })).status, 200);
  });

  it('with one port: the second exits with 75, which systemd retries', async () => {
    rmSync(folder.join('environment'), { force: true });
    await using _first = await start(ports[0]!);
    await assertExits75(ports[0]!, /^user-group-service: port \d+ is already in use/);
  });
});

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
    // It reads the units of the machine too, and warns of those.
    const warnings = stderr.split('\n').filter((line) => !/^\/(?:usr\/)?lib\/systemd\//.test(line));
    assert.deepEqual({ status, stdout, warnings }, { status: 0, stdout: '', warnings: [''] });
  });

  it('is confined', { skip }, (t) => {
    const { stdout } = analyze('security', '--offline=yes');
    const [summary = '', exposure] = /^.*Overall exposure level for \S+: ([\d.]+).*$/m.exec(stdout) ?? [];
    t.diagnostic(summary);
    assert.ok(Number(exposure) <= MAX_EXPOSURE, stdout);
  });

  it('allows netlink, through which Node lists the addresses of the machine for HOST=0.0.0.0', () => {
    const families = valuesOf('RestrictAddressFamilies')[0]!.split(' ');
    assert.deepEqual(families.toSorted(), ['AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_UNIX']);
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
    assert.ok(Number(valuesOf('TimeoutStopSec')[0]) * 1_000 > shutdownMs + CLOSING_MS);
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
