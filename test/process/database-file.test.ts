// At most one process serves a SQLite file, and the file can be served again however the process exited.

import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { createApiToken, Folder, PROGRAM, run, runHosted, serve } from '../support/process.ts';
import { serveHere } from '../support/service.ts';

/** Linux lists all file locks in this file. */
const LOCKS = '/proc/locks';
const DATABASE = 'data/user-groups.db';
const OTHER_USER = 65_534;
const cannotChangeUser =
  (process.getuid?.() !== 0 || !existsSync('/usr/bin/setpriv')) &&
  'only root can run a process as another user';
const GROUP = { user_group_id: 'one', name: 'One' };

describe('A SQLite file in use by a process', () => {
  it('is locked and refused to a second process with 75 and one line, also under other paths, while the first keeps serving', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using first = await serve(folder);
    await assertRefused(folder, 'data/user-groups.db', run);
    assert.equal((await first.call(token, 'GET', '/api/user', GROUP)).json.new_user_group, true);
    if (existsSync(LOCKS)) assertLocked(folder);
    symlinkSync('user-groups.db', folder.join('data/link.db'));
    symlinkSync('data', folder.join('folder'));
    for (const path of [folder.join('data/user-groups.db'), 'folder/user-groups.db', 'data/link.db'])
      await assertRefused(folder, path);
  });

  it('is refused through a hard link, to the service and to commands, and if it has one', async () => {
    using folder = new Folder();
    const [file, link] = ['data/user-groups.db', 'data/link.db'] as const;
    {
      await using _first = await serveHere(folder, {});
      linkSync(folder.join(file), folder.join(link));
      for (const args of [['serve'], ['workspace', 'list']]) await assertLinked(folder, args, link, file);
    }
    await assertLinked(folder, ['serve'], file, link);
    rmSync(folder.join(link));
    await using _again = await serveHere(folder, {});
  });

  it('is refused if it is a directory or a device, to the service and to commands', async () => {
    using folder = new Folder();
    mkdirSync(folder.join('data'));
    for (const args of [['serve'], ['workspace', 'list'], ['backup', 'copy.db'], ['migrate']]) {
      await assertNotAFile(
        folder,
        args,
        'data',
        'is a directory: name a file in it, such as data/user-groups.db',
      );
      await assertNotAFile(folder, args, '/dev/null', 'is not a regular file');
    }
  });

  it('is refused and keeps its tables if they belong to another application', async () => {
    using folder = new Folder();
    for (const table of ['schema_migrations (version text)', 'events (id integer)', 'notes (id integer)']) {
      using other = new DatabaseSync(folder.join('other.db'));
      other.exec(`create table ${table}`);
      const tables = () => other.prepare('select sql from sqlite_schema').all();
      const before = tables();
      for (const args of [['serve'], ['migrate']]) {
        const env = { DATABASE_URL: 'sqlite:other.db' };
        const { code, stdout, stderr } = await runHosted(folder, args, { env });
        assert.match(
          stderr,
          /^user-group-service: SQLite: \S+\/other\.db has tables of another application: [^\n]+\n$/,
        );
        assert.deepEqual([code, stdout, tables()], [69, '', before]);
      }
      rmSync(folder.join('other.db'));
    }
  });

  describe('whose log belongs to another user', { skip: cannotChangeUser }, () => {
    it('is named with what to do', async () => {
      using folder = new Folder();
      const { token } = await createApiToken(folder);
      await using service = await serve(folder);
      await service.call(token, 'GET', '/api/user', GROUP);
      for (const file of ['', 'data', DATABASE]) chownSync(folder.join(file), OTHER_USER, OTHER_USER);
      for (const [message, mode, command] of [
        ['unable to open database file', 0o600, ['migrate']],
        ['attempt to write a readonly database', 0o644, ['api-token', 'create', '--workspace', 'default']],
      ] as const) {
        for (const file of ['-wal', '-shm']) chmodSync(folder.join(DATABASE + file), mode);
        const { code, stdout, stderr } = await runAsOtherUser(folder, command);
        assert.deepEqual([code, stdout], [69, '']);
        const remedy = 'must be writable for this user, on a disk that is not mounted read-only';
        const path = realpathSync(folder.join(DATABASE));
        assert.equal(
          stderr,
          `user-group-service: SQLite: ${message}: ${path}, its -wal and -shm files and their directory ${remedy}\n`,
        );
      }
    });
  });

  it('whose lock file belongs to another user is named with what to do, including by doctor', {
    skip: cannotChangeUser,
  }, async () => {
    using folder = new Folder();
    await createApiToken(folder);
    {
      await using _service = await serve(folder);
    }
    for (const file of ['', 'data', ...globSync('data/*', { cwd: folder.path })])
      chownSync(folder.join(file), OTHER_USER, OTHER_USER);
    chownSync(folder.join(`${DATABASE}.lock`), 0, 0);
    const { code, stderr } = await runAsOtherUser(folder, ['serve', '--port', '0']);
    const lock = realpathSync(folder.join(`${DATABASE}.lock`));
    assert.deepEqual(
      { code, stderr },
      {
        code: 69,
        stderr: `user-group-service: SQLite: EACCES: permission denied, access '${lock}': it and its directory must be readable and writable for this user, on a disk that is not mounted read-only\n`,
      },
    );
    const doctor = await runAsOtherUser(folder, ['doctor']);
    assert.match(
      doctor.stdout,
      /^failed +privileges +SQLite: EACCES: permission denied, access '\S+\.lock'/m,
    );
  });

  it('whose directory belongs to another user is not reported as missing', {
    skip: cannotChangeUser,
  }, async () => {
    using folder = new Folder();
    await createApiToken(folder);
    chmodSync(folder.path, 0o755);
    for (const command of [
      ['api-token', 'list'],
      ['key', 'list'],
      ['backup', 'b'],
      ['restore', DATABASE],
    ]) {
      const { code, stderr } = await runAsOtherUser(folder, command);
      assert.deepEqual({ command, code }, { command, code: 69 });
      assert.match(stderr, /^user-group-service: SQLite: EACCES: permission denied[^\n]+\n$/);
    }
    assert.doesNotMatch((await runAsOtherUser(folder, ['doctor'])).stdout, /does not exist/);
  });

  it('is not copied into a directory that belongs to another user, with one line', {
    skip: cannotChangeUser,
  }, async () => {
    using folder = new Folder();
    await createApiToken(folder);
    mkdirSync(folder.join('closed'), { mode: 0o700 });
    for (const file of ['', 'data', ...globSync('data/*', { cwd: folder.path })])
      chownSync(folder.join(file), OTHER_USER, OTHER_USER);
    for (const command of [
      ['backup', 'closed/file'],
      ['export', 'closed/file', '--workspace', 'default'],
      ['usage', 'export', 'closed/file', '--workspace', 'default'],
      ['config', 'export', 'closed/file', '--workspace', 'default'],
    ]) {
      const { code, stderr } = await runAsOtherUser(folder, command);
      assert.deepEqual({ command, code }, { command, code: 2 });
      assert.match(stderr, /^user-group-service: cannot write closed\/file: EACCES[^\n]+\n$/);
    }
  });

  it('records the time of its backup after one by root', { skip: cannotChangeUser }, async () => {
    using folder = new Folder();
    await createApiToken(folder);
    for (const file of ['', 'data', ...globSync('data/*', { cwd: folder.path })])
      chownSync(folder.join(file), OTHER_USER, OTHER_USER);
    assert.equal((await runHosted(folder, ['backup', 'first'])).code, 0);
    const { code, stderr } = await runAsOtherUser(folder, ['backup', 'second']);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });

  it('tells its user in a directory of root to whom it must belong', { skip: cannotChangeUser }, async () => {
    using folder = new Folder();
    await createApiToken(folder);
    chownSync(folder.path, OTHER_USER, OTHER_USER);
    const { code, stdout } = await runAsOtherUser(folder, ['doctor', '--json']);
    assert.equal(code, 65);
    const found = (JSON.parse(stdout).checks as { name: string; status: string; remedy?: string }[]).filter(
      ({ status }) => status === 'failed',
    );
    assert.deepEqual(
      found.map(({ name }) => name),
      ['database', 'database file', 'disk space'],
    );
    for (const { remedy } of found) assert.match(remedy!, /the file and its directory must belong/);
  });

  it('can be served again after SIGKILL and SIGTERM, with its data', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const find = async (end: NodeJS.Signals) => {
      await using service = await serve(folder);
      const { json, headers } = await service.call(token, 'GET', '/api/user', GROUP);
      service.signal(end);
      await service.exit();
      return [json.new_user_group, json.user_group.token, headers.etag];
    };
    const [isNew, ...created] = await find('SIGKILL');
    assert.equal(isNew, true);
    assert.deepEqual(await find('SIGTERM'), [false, ...created]);
    assert.deepEqual(await find('SIGKILL'), [false, ...created]);
  });

  function runAsOtherUser(folder: Folder, command: readonly string[]): ReturnType<typeof run> {
    const args = [`--reuid=${OTHER_USER}`, '--clear-groups', process.execPath, PROGRAM, ...command];
    return run(folder, args, { command: 'setpriv' });
  }

  async function assertNotAFile(folder: Folder, args: string[], path: string, detail: string): Promise<void> {
    const { code, stderr } = await runHosted(folder, [...args, '--database-url', `sqlite:${path}`]);
    assert.deepEqual(
      { args, code, stderr },
      { args, code: 69, stderr: `user-group-service: SQLite: ${path} ${detail}\n` },
    );
  }

  async function assertLinked(folder: Folder, args: string[], path: string, other: string): Promise<void> {
    const { code, stderr } = await runHosted(folder, [...args, '--database-url', `sqlite:${path}`]);
    assert.deepEqual({ args, path, code }, { args, path, code: 69 });
    assert.match(stderr, new RegExp(`^user-group-service: [^\n]* a hard link ${other}, by which [^\n]*\n$`));
  }

  // Without a lock, another process could take itself for the last connection, and delete the write-ahead
  // log.
  function assertLocked(folder: Folder): void {
    const { ino } = statSync(folder.join(DATABASE));
    const locks = readFileSync(LOCKS, 'utf8').split('\n');
    assert.equal(locks.filter((lock) => lock.includes(`:${ino} `)).length, 1);
  }

  async function assertRefused(folder: Folder, path: string, start = runHosted): Promise<void> {
    const { code, stdout, stderr } = await start(folder, ['serve', '--database-url', `sqlite:${path}`]);
    assert.deepEqual({ path, code, stdout }, { path, code: 75, stdout: '' });
    assert.match(stderr, /^user-group-service: another process is serving [^\n]+\n$/);
  }
});
