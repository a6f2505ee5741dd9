// Restoring a SQLite database from a backup: what is refused. No file appears unless every check passes.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres } from '../support/database.ts';
import { createApiToken, eventually, Folder, Program, run, runHosted, serve } from '../support/process.ts';
import { serveHere } from '../support/service.ts';
import { slowDownCheck } from '../support/slow-check.ts';
import { inTerminal, linesInTerminal, noTerminal } from '../support/terminal.ts';

const DATABASE = 'data/user-groups.db';
const PAGE_BYTES = 4_096;
const GROUPS = 300;
const KILLS = 8;
const MAX_LIFETIME_MS = 500;
const MAX_END_MS = 10_000;
/** A restored database may contain what was deleted or revoked on purpose. */
const UNDONE = 'Deletions, suspensions, rotations and revocations since the backup are undone: repeat them.';

interface Site {
  folder: Folder;
  apiToken: string;
}

/** Creates `backup`, the backup of a database that has been moved away; `data/token-keys` remains. */
async function createBackup(folder: Folder): Promise<string> {
  const { token } = await createApiToken(folder);
  const lines = Array.from({ length: GROUPS }, (_, index) =>
    JSON.stringify({ user_group_id: `group-${index}`, name: 'G', properties: { text: 'x'.repeat(500) } }),
  );
  writeFileSync(folder.join('groups.ndjson'), lines.join('\n'));
  assert.equal((await runHosted(folder, ['import', 'groups.ndjson', '--workspace', 'default'])).code, 0);
  assert.equal((await runHosted(folder, ['backup', 'backup'])).code, 0);
  removeDatabase(folder);
  return token;
}

function removeDatabase(folder: Folder): void {
  for (const file of filesOf(folder)) rmSync(folder.join('data', file));
}

/** Returns the files of the database, apart from its lock. */
function filesOf(folder: Folder): string[] {
  return globSync('user-groups.db*', { cwd: folder.join('data') }).filter((file) => !file.includes('.lock'));
}

function changeBackup(folder: Folder, sql: string): void {
  const database = new DatabaseSync(folder.join('backup'));
  database.exec(sql);
  database.close();
}

async function assertRefused(folder: Folder, code: number, reason: RegExp): Promise<void> {
  const all = () => globSync('**', { cwd: folder.path }).sort();
  const before = all();
  const exit = await runHosted(folder, ['restore', 'backup']);
  assert.match(exit.stderr, reason);
  assert.match(exit.stderr, /^user-group-service: [^\n]+\n$/);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code, stdout: '' });
  assert.deepEqual(all(), before);
}

describe('restore', () => {
  const original = Folder.of();
  let apiToken = '';
  before(async () => {
    apiToken = await createBackup(original);
  });

  /** Runs `work` with a copy of the backup and its key ring. */
  async function withBackup(work: (site: Site) => Promise<void>): Promise<void> {
    using folder = new Folder();
    cpSync(original.path, folder.path, { recursive: true });
    await work({ folder, apiToken });
  }

  it('restores every group with its token, readable only by the owner, and reports it', () =>
    withBackup(async ({ folder, apiToken }) => {
      const { code, stdout, stderr } = await run(folder, ['restore', 'backup']);
      assert.deepEqual(
        { code, stdout, stderr },
        { code: 0, stdout: `Restored ${GROUPS} user groups to ${DATABASE}. ${UNDONE}\n`, stderr: '' },
      );
      assert.deepEqual(filesOf(folder), ['user-groups.db']);
      assert.equal(statSync(folder.join(DATABASE)).mode & 0o777, 0o600);
      assert.deepEqual(readFileSync(folder.join(DATABASE)), readFileSync(folder.join('backup')));
      await using service = await serveHere(folder, {});
      const { status, json } = await service.call(apiToken, 'GET', '/v1/user-groups/group-7');
      assert.equal(status, 200);
      assert.equal(
        (await service.call(apiToken, 'POST', '/v1/resolve', { token: json.user_group.token })).status,
        200,
      );
    }));

  it('prints JSON for scripts, and restores to the database of --database-url', () =>
    withBackup(async ({ folder }) => {
      const args = ['restore', 'backup', '--json', '--database-url', 'sqlite:other/groups.db'];
      const keys = { env: { UGS_TOKEN_KEYS_FILE: 'data/token-keys' } };
      const { code, stdout } = await run(folder, args, keys);
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(stdout), {
        file: 'backup',
        database: 'other/groups.db',
        user_groups: GROUPS,
      });
      assert.equal(statSync(folder.join('other')).mode & 0o777, 0o700);
    }));

  it('is refused with 2 if the database exists, or a file that SQLite would read with it', () =>
    withBackup(async ({ folder }) => {
      for (const file of [DATABASE, `${DATABASE}-wal`, `${DATABASE}-shm`, `${DATABASE}-journal`]) {
        writeFileSync(folder.join(file), 'mine');
        await assertRefused(folder, 2, new RegExp(`${file} already exists; move every file`));
        assert.equal(readFileSync(folder.join(file), 'utf8'), 'mine');
        rmSync(folder.join(file));
      }
      assert.equal((await runHosted(folder, ['restore', 'backup'])).code, 0);
    }));

  it('is refused with 75 while the database is served, even if its file was moved away', () =>
    withBackup(async ({ folder }) => {
      await using _service = await serveHere(folder, {});
      await assertRefused(folder, 75, /another process is serving/);
      removeDatabase(folder);
      await assertRefused(folder, 75, /another process is serving/);
    }));

  it('is refused with 65 if the backup is damaged, truncated, or not a database', () =>
    withBackup(async ({ folder }) => {
      const intact = readFileSync(folder.join('backup'));
      const damages: Record<string, Buffer> = {
        'a page': Buffer.from(intact).fill(0xff, 9 * PAGE_BYTES, 10 * PAGE_BYTES),
        'an entry of an index': damagedIndexEntry(intact),
        'the header': Buffer.from(intact).fill(0xff, 0, 100),
        'the end': intact.subarray(0, intact.length - 3 * PAGE_BYTES),
        everything: Buffer.from('This is not a database. '.repeat(100)),
      };
      for (const damaged of Object.values(damages)) {
        writeFileSync(folder.join('backup'), damaged);
        await assertRefused(folder, 65, /backup is not an intact database: /);
      }
    }));

  it('is refused with 65 if the file is empty or a database of another application', () =>
    withBackup(async ({ folder }) => {
      rmSync(folder.join('backup'));
      writeFileSync(folder.join('backup'), '');
      await assertRefused(folder, 65, /backup is not a database of this service/);
      changeBackup(folder, 'create table schema_migrations (version text)');
      await assertRefused(folder, 65, /backup is not a database of this service/);
    }));

  it('is refused with 65 if the file is a database in use, whose log has the latest changes', () =>
    withBackup(async ({ folder, apiToken }) => {
      assert.equal((await runHosted(folder, ['restore', 'backup'])).code, 0);
      {
        await using service = await serve(folder);
        await service.call(apiToken, 'POST', '/v1/user-groups', { user_group_id: 'latest', name: 'L' });
        await service.kill();
      }
      for (const suffix of ['', '-wal'])
        copyFileSync(folder.join(DATABASE + suffix), folder.join(`backup${suffix}`));
      removeDatabase(folder);
      await assertRefused(folder, 65, /backup-wal has changes that backup lacks/);
    }));

  it('is refused with 78 if a newer version wrote the backup', () =>
    withBackup(async ({ folder }) => {
      changeBackup(folder, "insert into schema_migrations values (999, 'future', 0)");
      await assertRefused(folder, 78, /newer than this version/);
    }));

  it('is refused with 78 if the key ring is missing or lacks a key, and creates no key ring', () =>
    withBackup(async ({ folder }) => {
      const ring = readFileSync(folder.join('data/token-keys'), 'utf8');
      rmSync(folder.join('data/token-keys'));
      await assertRefused(folder, 78, /key file data\/token-keys does not exist/);
      const { stdout } = await runHosted(folder, ['key', 'generate']);
      writeFileSync(folder.join('data/token-keys'), stdout);
      await assertRefused(folder, 78, new RegExp(`lacks the token key ${ring.split(':')[0]}`));
      writeFileSync(folder.join('data/token-keys'), stdout + ring);
      assert.equal((await runHosted(folder, ['restore', 'backup'])).code, 0);
    }));

  it('is refused with 78 if a token names a key that is not registered, or does not decrypt', () =>
    withBackup(async ({ folder }) => {
      copyFileSync(folder.join('backup'), folder.join('intact'));
      changeBackup(folder, "update user_groups set token_key_id = '00000000' where provided_id = 'group-9'");
      await assertRefused(folder, 78, /lacks the token key 00000000/);
      copyFileSync(folder.join('intact'), folder.join('backup'));
      changeBackup(folder, "update user_groups set team_id = team_id + 1000 where provided_id = 'group-0'");
      await assertRefused(folder, 78, /cannot decrypt the token of user group "group-0"/);
    }));

  it('is refused with 2 for PostgreSQL, and with 3 if there is no backup', () =>
    withBackup(async ({ folder }) => {
      const database = await postgres.create();
      const exit = await run(folder, ['restore', 'backup'], { env: database.env });
      await database.drop();
      assert.deepEqual([exit.code, exit.stdout], [2, '']);
      assert.match(exit.stderr, /pg_restore/);
      rmSync(folder.join('backup'));
      await assertRefused(folder, 3, /backup backup does not exist/);
      mkdirSync(folder.join('backup'));
      await assertRefused(folder, 69, /is a directory/);
    }));

  it('leaves a complete database or none, even after kills and signals', () =>
    withBackup(async ({ folder }) => {
      for (let kill = 0; kill < KILLS; kill++) {
        await using program = new Program(folder, ['restore', 'backup']);
        await sleep(Math.random() * MAX_LIFETIME_MS);
        program.signal(kill % 2 === 0 ? 'SIGKILL' : 'SIGINT');
        await program.exit();
        if (!filesOf(folder).includes('user-groups.db')) continue;
        assert.deepEqual(readFileSync(folder.join(DATABASE)), readFileSync(folder.join('backup')));
        removeDatabase(folder);
      }
      removeDatabase(folder);
      assert.equal((await runHosted(folder, ['restore', 'backup'])).code, 0);
    }));

  it('shows a progress bar on a terminal', { skip: noTerminal }, () =>
    withBackup(async ({ folder }) => {
      const { code, stdout } = await run(folder, ['restore', 'backup'], { command: inTerminal(folder) });
      assert.equal(code, 0);
      assert.match(linesInTerminal(stdout)[0]!, /^\[#{30}\] 100 % {2}1 of 1 MB copied/);
    }),
  );

  it('leaves no file if a signal interrupts it', () =>
    withBackup(async ({ folder }) => {
      await eventually('an interrupted restore', async () => {
        removeDatabase(folder);
        await using program = new Program(folder, ['restore', 'backup']);
        await eventually('a file', () => filesOf(folder).length > 0);
        program.signal('SIGTERM');
        const { signal } = await program.exit();
        return signal === 'SIGTERM' && !filesOf(folder).includes('user-groups.db');
      });
      assert.deepEqual(globSync('*', { cwd: folder.join('data') }), ['token-keys']);
    }));

  it('ends during its check on a signal, and leaves no file', () =>
    withBackup(async ({ folder }) => {
      slowDownCheck(folder.join('backup'));
      // The check opens a log.
      changeBackup(folder, 'pragma journal_mode = wal');
      await using program = new Program(folder, ['restore', 'backup']);
      await eventually('the check', () => filesOf(folder).some((file) => file.endsWith('-shm')));
      program.signal('SIGTERM');
      assert.equal((await program.exit(MAX_END_MS)).signal, 'SIGTERM');
      assert.deepEqual(globSync('*', { cwd: folder.join('data') }), ['token-keys']);
    }));
});

/** Changes one byte of a name in the index of names, which only a complete check compares with the table. */
function damagedIndexEntry(intact: Buffer): Buffer {
  const damaged = Buffer.from(intact);
  const at = damaged.lastIndexOf('Ggroup-');
  assert.ok(at > 0);
  damaged[at] = 'H'.charCodeAt(0);
  return damaged;
}
