// Files with secrets in them: whoever can write to the same directory, as anybody can to /tmp, must not get to read
// them by having made the file before.

import assert from 'node:assert/strict';
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createApiToken, type Exit, Folder, PROGRAM, Program, serve } from '../process.ts';

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

const NOBODY = 65_534;

describe('A file that serve reads a secret from', { skip: process.platform === 'win32' }, () => {
  it('is warned of where others may read it, with what to do', async () => {
    using folder = await folderWithKey();
    writeFileSync(folder.join('ring'), readFileSync(folder.join('data/token-keys')), { mode: 0o640 });
    writeFileSync(folder.join('url'), 'sqlite:data/user-groups.db', { mode: 0o604 });
    chmodSync(folder.join('data/token-keys'), 0o644);
    assert.deepEqual(await warningsOf(folder), [told('data/token-keys')]);
    const named = { UGS_TOKEN_KEYS_FILE: 'ring', DATABASE_URL_FILE: 'url' };
    assert.deepEqual(await warningsOf(folder, named), [told('url'), told('ring')]);
    const instead = ['--database-url', 'sqlite:data/user-groups.db'];
    assert.deepEqual(await warningsOf(folder, named, instead), [told('ring')]);
  });

  it('is no warning where nobody else may', async () => {
    using folder = await folderWithKey();
    for (const mode of [0o600, 0o400]) {
      chmodSync(folder.join('data/token-keys'), mode);
      assert.deepEqual(await warningsOf(folder), []);
      assert.deepEqual(await warningsOf(folder, { UGS_TOKEN_KEYS_FILE: 'data/token-keys' }), []);
    }
  });

  it('is no warning where it is somebody else who lets others read it', {
    skip: process.getuid?.() !== 0 && 'only root gives files away',
  }, async () => {
    using folder = await folderWithKey();
    chmodSync(folder.join('data/token-keys'), 0o444);
    chownSync(folder.join('data/token-keys'), NOBODY, NOBODY);
    assert.deepEqual(await warningsOf(folder, { UGS_TOKEN_KEYS_FILE: 'data/token-keys' }), []);
  });
});

/** With a database whose tokens are sealed under its key. */
async function folderWithKey(): Promise<Folder> {
  const folder = new Folder();
  await createApiToken(folder);
  await using _service = await serve(folder);
  return folder;
}

async function warningsOf(
  folder: Folder,
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<string[]> {
  await using service = await serve(folder, { env, args });
  const lines = service.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return lines.filter(({ level }) => level === 40).map(({ msg }) => msg);
}

function told(file: string): string {
  return `${file} holds a secret, and others may read it: chmod 600 ${file}`;
}
