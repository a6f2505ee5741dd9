// Contract: on a terminal, messages start on a new line, not after the progress bar.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Folder, Program, run, runHosted } from '../support/process.ts';
import { runSql } from '../support/sql.ts';
import { inTerminal, linesInTerminal, noTerminal } from '../support/terminal.ts';

/** Exceeds one page of a command. */
const GROUPS = 300;
/** All numbers have three digits, so that they sort in numeric order. */
const FIRST_NUMBER = 100;
const LAST = `group ${FIRST_NUMBER + GROUPS - 1}`;
/** Exit code that a shell reports. */
const EXIT_BY_SIGINT = 130;
/** Keeps an import busy for some seconds. */
const MANY_LINES = 500_000;
const BAR = /^\[[#.]{30}\] \d+ % {2}\d+ of \d+ [a-z ]+ {2}\d+\/s$/;
const LOSE_KEY = `update user_groups set token_key_id = '00000000' where provided_id = '${LAST}'`;

interface Command {
  args: string[];
  /** Makes the command fail at the last group. */
  sql: string;
  /** Matches the error message. */
  message: RegExp;
}

const commands: Record<string, Command> = {
  import: {
    args: ['import', 'new', '--workspace', 'default', '--update'],
    sql: `create trigger refuse before update on user_groups when old.provided_id = '${LAST}'
      begin select raise(abort, 'refused by a test'); end`,
    message: /refused by a test/,
  },
  export: {
    args: ['export', 'exported', '--workspace', 'default', '--with-tokens'],
    sql: LOSE_KEY,
    message: /the key ring has no key 00000000/,
  },
  'key reencrypt': { args: ['key', 'reencrypt'], sql: LOSE_KEY, message: /the key ring has no key 00000000/ },
  copy: {
    args: ['copy', '--from', 'sqlite:data/copied.db', '--to', 'sqlite:data/user-groups.db'],
    sql: `update user_groups set name = 'Changed' where provided_id = '${LAST}'`,
    message: /the target contains user groups/,
  },
};

describe('The progress bar', { skip: noTerminal }, () => {
  it('is not drawn on a terminal that cannot erase it', async () => {
    using folder = new Folder();
    writeGroups(folder, 'groups');
    const args = ['import', 'groups', '--workspace', 'default'];
    const { code, stdout } = await run(folder, args, {
      command: inTerminal(folder),
      env: { TERM: 'dumb' },
    });
    assert.equal(code, 0);
    assert.ok(!/\[K|\d %/.test(stdout), stdout);
  });

  it('fits into one line of a narrow terminal', async () => {
    using folder = new Folder();
    writeGroups(folder, 'groups');
    const args = ['import', 'groups', '--workspace', 'default'];
    const { code, stdout } = await run(folder, args, { command: inTerminal(folder, undefined, 40) });
    assert.equal(code, 0);
    const drawings = stdout.split(/[\r\n]/).map((line) => line.replaceAll('\x1b[K', ''));
    const lengths = drawings.filter((line) => line.startsWith('[')).map((line) => line.length);
    assert.equal(Math.max(...lengths), 39);
  });

  for (const [command, { args, sql, message }] of Object.entries(commands)) {
    it(`of ${command} ends before the error message`, async () => {
      using folder = new Folder();
      writeGroups(folder, 'old');
      writeGroups(folder, 'new');
      await runSuccessfully(folder, ['import', 'old', '--workspace', 'default']);
      await runSuccessfully(folder, ['backup', 'data/copied.db']);
      await runSql({ url: `sqlite:${folder.join('data/user-groups.db')}` }, sql);
      const { code, stdout } = await run(folder, args, { command: inTerminal(folder) });
      assert.notEqual(code, 0);
      const lines = linesInTerminal(stdout);
      const index = lines.findIndex((line) => message.test(line));
      assert.match(lines[index]!, /^user-group-service: /);
      assert.match(lines[index - 1]!, BAR);
    });
  }

  it('of copy counts the rows of all tables', async () => {
    using folder = new Folder();
    writeGroups(folder, 'old');
    await runSuccessfully(folder, ['import', 'old', '--workspace', 'default']);
    const args = ['copy', '--from', 'sqlite:data/user-groups.db', '--to', 'sqlite:data/copied.db'];
    const { code, stdout } = await run(folder, args, { command: inTerminal(folder) });
    assert.equal(code, 0);
    // A workspace, and each group with its event.
    const rows = 1 + 2 * GROUPS;
    const bars = linesInTerminal(stdout).filter((line) => BAR.test(line));
    assert.deepEqual(
      bars.map((line) => line.replace(/^.* (\d+ %.*) {2}\d+\/s$/, '$1')),
      ['copied', 'verified'].map((step) => `100 %  ${rows} of ${rows} rows ${step}`),
    );
  });

  it('of a deletion, whose total is unknown, counts the rows', async () => {
    using folder = new Folder();
    writeGroups(folder, 'old');
    await runSuccessfully(folder, ['import', 'old', '--workspace', 'default']);
    await runSuccessfully(folder, ['import', 'old', '--workspace', 'deleted', '--create-workspace']);
    for (const sql of ['delete from user_groups', 'update events set occurred_at = 0'])
      await runSql({ url: `sqlite:${folder.join('data/user-groups.db')}` }, sql);
    const deletions = [
      { args: ['workspace', 'delete', 'deleted'], done: /^300 rows of history deleted {2}\d+\/s$/ },
      { args: ['event', 'purge'], done: /^300 rows deleted {2}\d+\/s$/ },
    ];
    for (const { args, done } of deletions) {
      const { code, stdout } = await run(folder, args, { command: inTerminal(folder) });
      assert.equal(code, 0);
      assert.match(linesInTerminal(stdout)[0]!, done);
    }
  });

  it('ends before the shell prompt if a signal stops the command', async () => {
    using folder = new Folder();
    const line = `${JSON.stringify({ user_group_id: 'one', name: 'One' })}\n`;
    writeFileSync(folder.join('long'), line.repeat(MANY_LINES));
    const args = ['import', 'long', '--workspace', 'default'];
    await using program = new Program(folder, args, { command: inTerminal(folder) });
    await program.says(/ %/);
    process.kill(Number(readFileSync(folder.join('process-id'), 'utf8')), 'SIGINT');
    const { code, stdout } = await program.exit();
    assert.equal(code, EXIT_BY_SIGINT);
    const lines = linesInTerminal(stdout);
    assert.match(lines.at(-2)!, BAR);
    assert.equal(lines.at(-1), '');
  });
});

function writeGroups(folder: Folder, name: string): void {
  const ids = Array.from({ length: GROUPS }, (_, index) => `group ${FIRST_NUMBER + index}`);
  const lines = ids.map((user_group_id) => JSON.stringify({ user_group_id, name }));
  writeFileSync(folder.join(name), `${lines.join('\n')}\n`);
}

async function runSuccessfully(folder: Folder, args: readonly string[]): Promise<void> {
  assert.equal((await runHosted(folder, args)).code, 0);
}
