// Files with secrets in them: whoever can write to the same directory, as anybody can to /tmp, must not get to read
// them by having made the file before.

import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createApiToken, type Exit, Folder, PROGRAM, Program } from '../process.ts';

/** What somebody has put where the file is made before it has its name, which the id of the process tells. */
const TRAPS = {
  'a link to a file of their own': (path: string) => `ln -s "$PWD/spied" "${path}"`,
  'a file of their own': (path: string) => `touch spied && chmod 666 spied && ln spied "${path}"`,
};

const FILES: Record<string, { path: string; command: string }> = {
  'a backup': { path: 'groups.backup', command: 'backup groups.backup' },
  'an export': {
    path: 'groups.ndjson',
    command: 'export groups.ndjson --workspace default --with-tokens',
  },
  'a key file': { path: 'data/token-keys', command: 'key reencrypt' },
};

async function runTrapped(folder: Folder, trap: string, command: string): Promise<Exit> {
  const script = `${trap}; exec "${process.execPath}" "${PROGRAM}" ${command}`;
  await using program = new Program(folder, ['-c', script], { command: 'sh' });
  return await program.exit();
}

describe('A file with secrets', () => {
  for (const [what, { path, command }] of Object.entries(FILES)) {
    for (const [laid, trapAt] of Object.entries(TRAPS)) {
      it(`that is ${what} is not written to ${laid}`, async () => {
        using folder = new Folder();
        mkdirSync(folder.join('data'));
        await createApiToken(folder);
        writeFileSync(folder.join('spied'), '');
        const { code, stderr } = await runTrapped(folder, trapAt(`${path}.$$.new`), command);
        assert.equal(code, 0, stderr);
        assert.equal(readFileSync(folder.join('spied')).length, 0);
        const made = lstatSync(folder.join(path));
        assert.ok(made.isFile());
        assert.equal(made.mode & 0o777, 0o600);
      });
    }
  }
});
