// What the program says of itself, and what it says to a command that it does not know.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { exitCodes } from '../../src/commands/exit-code.ts';
import { settings } from '../../src/config.ts';
import { Folder, run } from '../process.ts';

const commands = [
  [],
  ['start'],
  ['serve'],
  ['api-token'],
  ['api-token', 'create'],
  ['api-token', 'list'],
  ['api-token', 'revoke'],
  ['workspace'],
  ['workspace', 'list'],
  ['key'],
  ['key', 'generate'],
  ['key', 'reencrypt'],
  ['migrate'],
  ['backup'],
  ['copy'],
  ['import'],
  ['export'],
];

async function help(...command: string[]): Promise<string> {
  using folder = new Folder();
  const { code, stdout, stderr } = await run(folder, [...command, '--help']);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout;
}

describe('--help', { concurrency: 2 }, () => {
  for (const command of commands) {
    it(`of ${['user-group-service', ...command].join(' ')} shows its usage and ends with 0`, async () => {
      assert.match(
        await help(...command),
        new RegExp(`^Usage: ${['user-group-service', ...command].join(' ')} `),
      );
    });
  }

  it('of the program lists every command and every exit code', async () => {
    const text = await help();
    for (const [command] of commands.slice(1)) assert.match(text, new RegExp(`^ {2}${command} `, 'm'));
    for (const code of Object.values(exitCodes)) assert.match(text, new RegExp(`^ {2,}${code} {2}\\S`, 'm'));
  });

  it('of serve names the variable of every setting', async () => {
    const text = await help('serve');
    for (const { env } of Object.values(settings)) assert.ok(text.includes(env), env);
  });

  it('lists no command that this test does not know', async () => {
    for (const parent of [[], ['api-token'], ['workspace'], ['key']]) {
      const [, listed = ''] = (await help(...parent)).split('\nCommands:\n');
      const names = [...listed.split('\n\n')[0]!.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name!);
      const known = commands.filter((command) => parent.every((part, index) => command[index] === part));
      const expected = new Set(known.map((command) => command[parent.length]).filter((name) => name));
      assert.deepEqual(new Set(names), new Set([...expected, 'help']));
    }
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

describe('A command that there is not', () => {
  const suggestions: [string[], RegExp][] = [
    [['api-tokens', 'list'], /Did you mean api-token\?/],
    [['sevre'], /Did you mean serve\?/],
    [['api-token', 'lst'], /Did you mean list\?/],
    [['key', 'generat'], /Did you mean generate\?/],
    [['serve', '--prot', '1'], /Did you mean --port\?/],
  ];
  for (const [args, suggestion] of suggestions) {
    it(`ends with 2, suggests the nearest, and tells of --help: ${args.join(' ')}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await run(folder, args);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, suggestion);
      assert.match(stderr, /\n\("--help" shows what there is\)\n$/);
    });
  }

  for (const args of [[], ['api-token'], ['key'], ['workspace']]) {
    it(`ends with 2 and shows the usage where it is left out: ${args.join(' ')}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await run(folder, args);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^Usage: user-group-service/);
    });
  }
});
