// Files with secrets: another user who can write to the same directory, such as /tmp, must not be able to
// read them by creating the file in advance.

import assert from 'node:assert/strict';
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createApiToken, type Exit, Folder, PROGRAM, Program, serve } from '../support/process.ts';
import { serveHere } from '../support/service.ts';

/** Files that an attacker creates under the temporary name, which contains the predictable process id. */
const TRAPS = {
  "a symbolic link to the attacker's file": (path: string) => `ln -s "$PWD/spied" "${path}"`,
  "a hard link to the attacker's file": (path: string) =>
    `touch spied && chmod 666 spied && ln spied "${path}"`,
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
    for (const [trap, trapAt] of Object.entries(TRAPS)) {
      it(`that is ${what} is not written to ${trap}`, async () => {
        using folder = new Folder();
        mkdirSync(folder.join('data'));
        await createApiToken(folder);
        writeFileSync(folder.join('spied'), '');
        const { code, stderr } = await runTrapped(folder, trapAt(`${path}.$$.new`), command);
        assert.equal(code, 0, stderr);
        assert.equal(readFileSync(folder.join('spied')).length, 0);
        const file = lstatSync(folder.join(path));
        assert.ok(file.isFile());
        assert.equal(file.mode & 0o777, 0o600);
      });
    }
  }
});

const NOBODY = 65_534;

describe('A secret file that serve reads', { skip: process.platform === 'win32' }, () => {
  it('causes a warning with a remedy if other users can read it', async () => {
    using folder = await folderWithKey();
    writeFileSync(folder.join('ring'), readFileSync(folder.join('data/token-keys')), { mode: 0o640 });
    writeFileSync(folder.join('url'), 'sqlite:data/user-groups.db', { mode: 0o604 });
    chmodSync(folder.join('data/token-keys'), 0o644);
    assert.deepEqual(await warningsHere(folder), [warningFor(folder.join('data/token-keys'))]);
    const named = { UGS_TOKEN_KEYS_FILE: 'ring', DATABASE_URL_FILE: 'url' };
    assert.deepEqual(await warningsOf(folder, named), [warningFor('url'), warningFor('ring')]);
    const flags = ['--database-url', 'sqlite:data/user-groups.db'];
    assert.deepEqual(await warningsOf(folder, named, flags), [warningFor('ring')]);
  });

  it('causes no warning if only its owner can read it', async () => {
    using folder = await folderWithKey();
    for (const mode of [0o600, 0o400]) {
      chmodSync(folder.join('data/token-keys'), mode);
      assert.deepEqual(await warningsHere(folder), []);
      assert.deepEqual(await warningsHere(folder, { UGS_TOKEN_KEYS_FILE: 'data/token-keys' }), []);
    }
  });

  it('causes no warning if another user owns it', {
    skip: process.getuid?.() !== 0 && 'only root can change the owner of files',
  }, async () => {
    using folder = await folderWithKey();
    chmodSync(folder.join('data/token-keys'), 0o444);
    chownSync(folder.join('data/token-keys'), NOBODY, NOBODY);
    assert.deepEqual(await warningsHere(folder, { UGS_TOKEN_KEYS_FILE: 'data/token-keys' }), []);
  });
});

/** Creates a folder with a key file and a database that uses it. */
async function folderWithKey(): Promise<Folder> {
  const folder = new Folder();
  await createApiToken(folder);
  await using _service = await serveHere(folder, {});
  return folder;
}

/** Serves in this process, so the warnings have absolute paths. */
async function warningsHere(folder: Folder, env: Record<string, string> = {}): Promise<string[]> {
  await using service = await serveHere(folder, env);
  return warningsIn(service.logLines);
}

async function warningsOf(
  folder: Folder,
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<string[]> {
  await using service = await serve(folder, { env, args });
  return warningsIn(service.stdout.trim().split('\n'));
}

function warningsIn(logLines: readonly string[]): string[] {
  const lines = logLines.map((line) => JSON.parse(line));
  return lines.filter(({ level }) => level === 40).map(({ msg }) => msg);
}

function warningFor(file: string): string {
  return `${file} contains a secret and other users can read it: run chmod 600 ${file}`;
}
