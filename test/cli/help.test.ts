// Help texts, and errors for unknown commands.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { exitCodes } from '../../src/commands/exit-code.ts';
import { settings } from '../../src/config.ts';
import { program } from '../../src/main.ts';
import { Folder, run, runHosted, serve } from '../support/process.ts';

/** All commands, as the words that lead to them; the program itself has none. */
const commands = pathsOf(await program());

function pathsOf({ commands: children }: Command, path: readonly string[] = []): (readonly string[])[] {
  return [path, ...children.flatMap((child) => pathsOf(child, [...path, child.name()]))];
}

/** Help texts by command. */
const helps = new Map<string, Promise<string>>();

function help(...command: string[]): Promise<string> {
  const name = command.join(' ');
  const known = helps.get(name) ?? printHelp(command);
  helps.set(name, known);
  return known;
}

async function printHelp(command: readonly string[]): Promise<string> {
  using folder = new Folder();
  const start = command.length === 0 ? run : runHosted;
  const { code, stdout, stderr } = await start(folder, [...command, '--help']);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout;
}

describe('--help', { concurrency: 2 }, () => {
  for (const command of commands) {
    it(`of ${['user-group-service', ...command].join(' ')} prints its usage and exits with 0`, async () => {
      assert.match(
        await help(...command),
        new RegExp(`^Usage: ${['user-group-service', ...command].join(' ')} `),
      );
    });
  }

  for (const command of commands.filter(({ length }) => length > 0)) {
    it(`of ${command.join(' ')} prints the same as "help ${command.join(' ')}"`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await runHosted(folder, ['help', ...command]);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.equal(stdout, await help(...command));
    });
  }

  for (const command of commands) {
    it(`of ${['user-group-service', ...command].join(' ')} has lines of at most 80 characters`, async () => {
      const lines = (await help(...command)).split('\n');
      assert.deepEqual(
        lines.filter(({ length }) => length > 80),
        [],
      );
    });
  }

  it('of the program lists every command and every exit code', async () => {
    const text = await help();
    for (const [command] of commands.slice(1)) assert.match(text, new RegExp(`^ {2}${command} `, 'm'));
    for (const code of Object.values(exitCodes)) assert.match(text, new RegExp(`^ {2,}${code} {2}\\S`, 'm'));
  });

  it('of serve lists the environment variable of every setting', async () => {
    const text = await help('serve');
    for (const { env } of Object.values(settings)) assert.ok(text.includes(env), env);
  });

  it('of a group of commands lists exactly its commands', async () => {
    const children = Map.groupBy(commands.slice(1), (command) => command.slice(0, -1).join(' '));
    for (const [parent, listed] of children) {
      const [, section = ''] = (await help(...parent.split(' ').filter(Boolean))).split('\nCommands:\n');
      const names = [...section.split('\n\n')[0]!.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name!);
      assert.deepEqual(new Set(names), new Set([...listed.map((command) => command.at(-1)!), 'help']));
    }
  });
});

describe('help', () => {
  for (const args of [['help'], ['help', 'config', 'apply'], ['config', 'help'], ['config', 'help', 'apply']])
    it(`ends the process with 0: ${args.join(' ')}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await run(folder, args);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.match(stdout, /^Usage: /);
    });
});

describe('--version', () => {
  it('prints the version of the package', async () => {
    using folder = new Folder();
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const { code, stdout } = await run(folder, ['--version']);
    assert.deepEqual({ code, stdout }, { code: 0, stdout: `${version}\n` });
  });
});

describe('An unknown command or option', () => {
  const suggestions: [string[], RegExp][] = [
    [['api-tokens', 'list'], /Did you mean api-token\?/],
    [['sevre'], /Did you mean serve\?/],
    [['api-token', 'lst'], /Did you mean list\?/],
    [['key', 'generat'], /Did you mean generate\?/],
    [['serve', '--prot', '1'], /Did you mean --port\?/],
    [['help', 'sevre'], /Did you mean serve\?/],
    [['help', 'api-token', 'crate'], /Did you mean create\?/],
  ];
  for (const [args, suggestion] of suggestions) {
    it(`exits with 2, suggests a similar name, and refers to --help: ${args.join(' ')}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await runHosted(folder, args);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^user-group-service: unknown /);
      assert.match(stderr, suggestion);
      assert.match(stderr, /\n\(run with --help for usage\)\n$/);
    });
  }
});

describe('An error about an argument', () => {
  const misplaced: string[][] = [
    [],
    ['help'],
    ['api-token', 'revoke'],
    ['event', 'purge', '--older-than'],
    ['api-token', 'create', '--workspace', 'acme', '--permission'],
  ];
  for (const args of misplaced) {
    it(`shows its control characters as escapes: ${args.join(' ')}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await runHosted(folder, [...args, 'a\u001b[31mb\u009bc']);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.ok(stderr.includes(String.raw`'a\u001b[31mb\u009bc'`), stderr);
    });
  }
});

describe('An empty path, name or id', () => {
  const place = ['--workspace', 'acme'];
  const empty: [string, string[]][] = [
    ["argument 'file'", ['backup', '']],
    ["argument 'file'", ['restore', '']],
    ["argument 'file'", ['export', '', ...place]],
    ["argument 'file'", ['import', '', ...place]],
    ["argument 'file'", ['config', 'plan', '', ...place]],
    ["argument 'id'", ['group', 'show', '', ...place]],
    ["argument 'new-id'", ['group', 'rename', 'a', '', ...place]],
    ["argument 'id'", ['webhook', 'disable', '', ...place]],
    ["option '--data <directory>'", ['start', '--data', '']],
    ["option '--group <user_group_id>'", ['usage', 'export', '--group', '', ...place]],
    ["option '--environment-file <file>'", ['doctor', '--environment-file=']],
  ];
  for (const [what, args] of empty) {
    it(`exits with 2 and creates nothing: ${args.join(' ')}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await runHosted(folder, args);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      const message = `user-group-service: ${what} must not be empty\n(run with --help for usage)\n`;
      assert.equal(stderr, message);
      assert.deepEqual(readdirSync(folder.path), []);
    });
  }

  it('is accepted as the value of a setting that may be empty', async () => {
    using folder = new Folder();
    const args = ['--allowed-origins', '', '--public-url='];
    await using service = await serve(folder, { env: { UGS_ALLOWED_ORIGINS: 'nonsense' }, args });
    assert.equal((await service.send({ path: '/readyz', token: null })).status, 200);
  });
});

describe('A missing command', () => {
  for (const args of [[], ['api-token'], ['group'], ['key'], ['workspace']]) {
    it(`exits with 2 and prints the usage: ${args.join(' ')}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await run(folder, args);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^Usage: user-group-service/);
    });
  }
});
