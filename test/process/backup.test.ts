// A backup of a SQLite database, made while the service writes, and restored as docs/operations.md says.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres } from '../database.ts';
import { assertProblem } from '../problem.ts';
import {
  createApiToken,
  type Exit,
  eventually,
  Folder,
  Program,
  run,
  type Service,
  serve,
} from '../process.ts';

const CONNECTIONS = 8;
const GROUPS_BEFORE = 2_000;
const KILLS = 5;
const PAGE_BYTES = 4_096;
const LONGEST_LIFE_MS = 400;

describe('backup', () => {
  it('of a service under load holds all that was answered before it, and restores to that', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder);
    const load = new Creating(service, token);
    await eventually('groups', () => load.tokens.size > GROUPS_BEFORE);
    const before = new Map(load.tokens);
    const { code, stdout } = await run(folder, ['backup', 'groups.backup', '--json']);
    const after = new Map(load.tokens);
    await load.end();
    assert.equal(code, 0);
    const { file, user_groups: count } = JSON.parse(stdout);
    assert.equal(file, 'groups.backup');
    assert.ok(count >= before.size, `${count} of ${before.size} groups`);
    assert.ok(after.size > before.size, 'the service went on');

    await service.kill();
    for (const left of globSync('user-groups.db*', { cwd: folder.join('data') }))
      rmSync(folder.join('data', left));
    copyFileSync(folder.join('groups.backup'), folder.join('data/user-groups.db'));
    await using restored = await serve(folder);
    await Promise.all([...before].map(([id, expected]) => assertToken(restored, token, id, expected)));
  });

  it('that takes the place of a file that is served takes no changes until it is served itself', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const create = (service: Service) =>
      service.call(token, 'POST', '/v1/user-groups', { user_group_id: 'new', name: 'New' });
    {
      await using service = await serve(folder);
      assert.equal((await run(folder, ['backup', 'groups.backup'])).code, 0);
      for (const file of globSync('user-groups.db*', { cwd: folder.join('data') }))
        renameSync(folder.join('data', file), folder.join(file));
      copyFileSync(folder.join('groups.backup'), folder.join('data/user-groups.db'));
      assertProblem(await create(service), 'database_unavailable');
      assertProblem(await service.send({ method: 'GET', path: '/readyz' }), 'database_unavailable');
      await service.says(/user-groups\.db is not the file that the service has opened: restart the service/);
    }
    await using restarted = await serve(folder);
    assert.equal((await create(restarted)).status, 201);
  });

  it('is a file for its owner only, and leaves nothing else behind', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const { code, stdout, stderr } = await run(folder, ['backup', 'groups.backup']);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /^0 user groups are in groups\.backup; the key ring is not/);
    assert.equal(statSync(folder.join('groups.backup')).mode & 0o777, 0o600);
    assert.deepEqual(globSync('groups*', { cwd: folder.path }), ['groups.backup']);
  });

  it('is whole also where its name would be a URI to SQLite', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    assert.equal((await run(folder, ['backup', 'file:groups'])).code, 0);
    assert.deepEqual(globSync('*groups*', { cwd: folder.path }), ['file:groups']);
    const copy = { env: { DATABASE_URL: 'sqlite:file:groups' } };
    assert.match((await run(folder, ['workspace', 'list'], copy)).stdout, /^default /m);
  });

  it('leaves nothing behind where a signal ends it', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const files = () => globSync('groups*', { cwd: folder.path });
    await eventually('a backup to be ended', async () => {
      for (const whole of files()) rmSync(folder.join(whole));
      await using program = new Program(folder, ['backup', 'groups.backup']);
      await eventually('the file', () => files().length > 0);
      program.signal('SIGINT');
      const { signal } = await program.exit();
      return signal === 'SIGINT' && !files().includes('groups.backup');
    });
    assert.deepEqual(files(), []);
  });

  it('leaves a file of its name only where it is whole, however often it is killed', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    {
      await using service = await serve(folder);
      const load = new Creating(service, token);
      await eventually('groups', () => load.tokens.size > GROUPS_BEFORE);
      await load.end();
    }
    for (let kill = 0; kill < KILLS; kill++) {
      await using program = new Program(folder, ['backup', `groups-${kill}.backup`]);
      await sleep(Math.random() * LONGEST_LIFE_MS);
      await program.kill();
    }
    const whole = globSync('groups-?.backup', { cwd: folder.path });
    assert.equal((await run(folder, ['backup', 'groups-last.backup'])).code, 0);
    for (const file of [...whole, 'groups-last.backup']) {
      const copy = { env: { DATABASE_URL: `sqlite:${file}`, UGS_TOKEN_KEYS_FILE: 'data/token-keys' } };
      assert.equal((await run(folder, ['migrate'], copy)).stdout, 'The schema is the newest.\n');
    }
  });

  async function assertRefused(exit: Exit, code: number, reason: RegExp): Promise<void> {
    assert.match(exit.stderr, reason);
    assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code, stdout: '' });
  }

  it('is refused with 2 where the file is there already, which stays as it is, before the database is read', async () => {
    using folder = new Folder();
    writeFileSync(folder.join('mine'), 'mine');
    mkdirSync(folder.join('data'));
    writeFileSync(folder.join('data/user-groups.db'), 'This is no database. '.repeat(100));
    await assertRefused(await run(folder, ['backup', 'mine']), 2, /mine is there already/);
    assert.equal(readFileSync(folder.join('mine'), 'utf8'), 'mine');
  });

  it('is refused with 2 for PostgreSQL, with 3 where there is no database, and with 69 where the file cannot be made', async () => {
    using folder = new Folder();
    const database = await postgres.create();
    await assertRefused(await run(folder, ['backup', 'b'], { env: database.env }), 2, /pg_dump/);
    await database.drop();
    await assertRefused(await run(folder, ['backup', 'b']), 3, /there is no database data\/user-groups\.db/);
    assert.equal(existsSync(folder.join('data')), false);
    await createApiToken(folder);
    await assertRefused(await run(folder, ['backup', 'nowhere/b']), 69, /no such file or directory/);
  });

  it('is refused with 69 and one line where the database is damaged, and leaves nothing behind', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const file = folder.join('data/user-groups.db');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, 2 * PAGE_BYTES, 3 * PAGE_BYTES));
    const exit = await run(folder, ['backup', 'b']);
    await assertRefused(exit, 69, /^user-group-service: SQLite: the backup is damaged[^\n]+\n$/);
    assert.deepEqual(globSync('b*', { cwd: folder.path }), []);
  });

  it('is refused with 69 where the file is a database of something else, and leaves nothing behind', async () => {
    using folder = new Folder();
    const env = { DATABASE_URL: 'sqlite:other.db' };
    for (const sql of ['', 'create table schema_migrations (version text)']) {
      const other = new DatabaseSync(folder.join('other.db'));
      other.exec(sql);
      other.close();
      const exit = await run(folder, ['backup', 'b'], { env });
      await assertRefused(exit, 69, /^user-group-service: SQLite: \S+\/other\.db holds no user groups\n$/);
    }
    assert.deepEqual(globSync('b*', { cwd: folder.path }), []);
  });
});

/** Creates groups by several connections, until it is told to end. */
class Creating {
  /** Of each group whose create was answered. */
  readonly tokens = new Map<string, string>();
  #ended = false;
  #next = 0;
  readonly #connections: Promise<void>[];

  constructor(service: Service, token: string) {
    this.#connections = Array.from({ length: CONNECTIONS }, async () => {
      while (!this.#ended) {
        const id = `group-${this.#next++}`;
        const body = { user_group_id: id, name: id, properties: { text: 'x'.repeat(500) } };
        const { status, json } = await service.call(token, 'GET', '/api/user', body);
        assert.equal(status, 200);
        this.tokens.set(id, json.user_group.token);
      }
    });
    // A failure shows when it is ended.
    for (const connection of this.#connections) connection.catch(() => {});
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#connections);
  }
}

async function assertToken(service: Service, token: string, id: string, expected: string): Promise<void> {
  const { json } = await service.call(token, 'GET', '/api/user', { user_group_id: id });
  assert.equal(json.user_group?.token, expected, id);
}
