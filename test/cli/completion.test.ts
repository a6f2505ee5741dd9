// Completion scripts in the real shells, and the manual page.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { manPage } from '../../scripts/man-page.ts';
import { allSettings, variableNames } from '../../src/config.ts';
import { Folder, run } from '../support/process.ts';

/**
 * Returns a zsh script that prints what zsh offers. It replaces the functions of the completion system that
 * only display.
 */
function zsh(load: string, words: string[]): string {
  return (
    `compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- \${(M)@:#$PREFIX*}; }; ${load}; ` +
    `words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; PREFIX='${words.at(-1)}'; `
  );
}

/** Scripts that print what the shell offers for the words; the last word is incomplete. */
const shells = {
  bash: (words: string[]) =>
    `source ./script; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); ` +
    `COMP_CWORD=${words.length - 1}; _user_group_service; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (words: string[]) => `${zsh('source ./script', words)} _user_group_service`,
  fish: (words: string[]) => `source ./script; complete -C '${words.join(' ')}' | string split -f1 \\t; true`,
};

function offers(
  shell: keyof typeof shells,
  folder: Folder,
  words: string[],
  script = shells[shell](words),
): string[] {
  const args = [...(shell === 'zsh' ? ['-f'] : []), '-c', script];
  const { status, stdout, stderr } = spawnSync(shell, args, { cwd: folder.path, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
}

function isMissing(command: string): string | false {
  return spawnSync(command, ['--version']).error === undefined ? false : `${command} is not installed`;
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  describe(`Completion in ${shell}`, { skip: isMissing(shell) }, () => {
    const folder = new Folder();
    before(async () => {
      const { stdout } = await run(folder, ['completion', shell]);
      writeFileSync(folder.join('script'), stdout);
    });

    it('offers the commands, and the subcommands of one', () => {
      assert.deepEqual(offers(shell, folder, ['user-group-service', 'do']), ['doctor']);
      assert.deepEqual(offers(shell, folder, ['user-group-service', 'api-token', 'cr']), ['create']);
    });

    it('offers the options of a command, after other options too', () => {
      const words = ['user-group-service', 'api-token', 'create', '--json', '--permi'];
      assert.deepEqual(offers(shell, folder, words), ['--permission']);
    });

    it('offers the values of an option', () => {
      const words = ['user-group-service', 'api-token', 'create', '--permission', 're'];
      assert.deepEqual(offers(shell, folder, words), ['read-only', 'read-write', 'resolve']);
    });

    it('offers no option where a value is expected', () => {
      for (const option of ['--workspace', '--database-url']) {
        const offered = offers(shell, folder, ['user-group-service', 'api-token', 'create', option, '']);
        assert.deepEqual(
          offered.filter((word) => word.startsWith('--')),
          [],
          option,
        );
      }
    });

    if (shell !== 'zsh') return;

    it('works as a file in $fpath, where the Debian package installs it', () => {
      copyFileSync(folder.join('script'), folder.join('_user-group-service'));
      const words = ['user-group-service', 'do'];
      const load = 'fpath=(. $fpath); autoload -Uz _user-group-service';
      assert.deepEqual(offers(shell, folder, words, `${zsh(load, words)} _user-group-service`), ['doctor']);
    });
  });
}

/** A time in 2023. */
const EPOCH = 1_700_000_000;

describe('The manual page', () => {
  it('is accepted by mandoc without a remark', { skip: isMissing('mandoc') }, () => {
    const { stdout, stderr } = spawnSync('mandoc', ['-T', 'lint'], {
      input: manPage(EPOCH),
      encoding: 'utf8',
    });
    assert.deepEqual([stdout, stderr], ['', '']);
  });

  it('has the date of the release, and none in a build without one', () => {
    const [title = ''] = manPage(EPOCH).split('\n');
    assert.match(title, / 1 "2023-11-14" /);
    assert.equal(manPage().split('\n')[0], title.replace('2023-11-14', ''));
  });

  it('shows the commands, the values of options, the settings and the exit codes', {
    skip: isMissing('groff'),
  }, () => {
    const args = ['-man', '-ww', '-Tutf8', '-P-c', '-P-b', '-P-u'];
    const { stdout, stderr } = spawnSync('groff', args, { input: manPage(EPOCH), encoding: 'utf8' });
    assert.equal(stderr, '');
    for (const part of ['api-token create', 'DATABASE_URL', '"embed"', 'EXIT STATUS'])
      assert.ok(stdout.includes(part), part);
    const [, environment = ''] = stdout.split('\nENVIRONMENT\n');
    for (const name of allSettings.flatMap(variableNames))
      assert.match(environment, new RegExp(`\\b${name}\\b`));
  });
});
