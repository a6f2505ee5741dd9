// Contract: on a terminal, what a command says stands on a line of its own, and not behind its progress bar.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Folder, Program, run } from '../process.ts';
import { runSql } from '../sql.ts';
import { inTerminal, linesInTerminal, noTerminal } from '../terminal.ts';

/** More than a command takes at one time. */
const GROUPS = 300;
/** Of as many digits, and so in their order. */
const FIRST_NUMBER = 100;
const LAST = `group ${FIRST_NUMBER + GROUPS - 1}`;
/** As a shell has it. */
const EXIT_BY_SIGINT = 130;
/** How many lines an import is busy with for some seconds. */
const LINES_OF_SECONDS = 500_000;
const BAR = /^\[[#.]{30}\] \d+ % {2}\d+ of \d+ [a-z ]+ {2}\d+\/s$/;
const LOSE_KEY = `update user_groups set token_key_id = '00000000' where provided_id = '${LAST}'`;

interface Command {
  args: string[];
  /** What makes it fail at the last group. */
  sql: string;
  /** Of the message that says so. */
  says: RegExp;
}

const commands: Record<string, Command> = {
  import: {
    args: ['import', 'new', '--workspace', 'default', '--update'],
    sql: `create trigger refuse before update on user_groups when old.provided_id = '${LAST}'
      begin select raise(abort, 'refused by a test'); end`,
    says: /refused by a test/,
  },
  export: {
    args: ['export', 'exported', '--workspace', 'default', '--with-tokens'],
    sql: LOSE_KEY,
    says: /the key ring has no key 00000000/,
  },
  'key reencrypt': { args: ['key', 'reencrypt'], sql: LOSE_KEY, says: /the key ring has no key 00000000/ },
  copy: {
    args: ['copy', '--from', 'sqlite:data/copied.db', '--to', 'sqlite:data/user-groups.db'],
    sql: `update user_groups set name = 'Changed' where provided_id = '${LAST}'`,
    says: /the target holds user groups/,
  },
};

describe('The progress bar', { skip: noTerminal }, () => {
  for (const [command, { args, sql, says }] of Object.entries(commands)) {
    it(`of ${command} ends before it is told why the command has failed`, async () => {
      using folder = new Folder();
      writeGroups(folder, 'old');
      writeGroups(folder, 'new');
      await runWell(folder, ['import', 'old', '--workspace', 'default']);
      await runWell(folder, ['backup', 'data/copied.db']);
      await runSql({ url: `sqlite:${folder.join('data/user-groups.db')}` }, sql);
      const { code, stdout } = await run(folder, args, { command: inTerminal(folder) });
      assert.notEqual(code, 0);
      const lines = linesInTerminal(stdout);
      const place = lines.findIndex((line) => says.test(line));
      assert.match(lines[place]!, /^user-group-service: /);
      assert.match(lines[place - 1]!, BAR);
    });
  }

  it('ends before the prompt of the shell where a signal ends the command', async () => {
    using folder = new Folder();
    const line = `${JSON.stringify({ user_group_id: 'one', name: 'One' })}\n`;
    writeFileSync(folder.join('long'), line.repeat(LINES_OF_SECONDS));
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

async function runWell(folder: Folder, args: readonly string[]): Promise<void> {
  assert.equal((await run(folder, args)).code, 0);
}
