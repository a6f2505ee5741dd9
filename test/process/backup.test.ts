// Online backups of a SQLite database while the service is writing, restored as described in docs/back-up.md.

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
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/connection/free-port.ts';
import { postgres } from '../support/database.ts';
import { mapConcurrently } from '../support/http.ts';
import { Scrape } from '../support/metrics.ts';
import { assertProblem } from '../support/problem.ts';
import {
  createApiToken,
  type Exit,
  eventually,
  Folder,
  Program,
  run,
  runHosted,
  type Service,
  serve,
  served,
} from '../support/process.ts';
import { type Callable, serveHere } from '../support/service.ts';
import { slowDownCheck } from '../support/slow-check.ts';

const CONNECTIONS = 8;
const GROUPS_BEFORE = 2_000;
/** Number of groups that a load creates before a backup, at least. */
const LOADED_BEFORE = 200;
const KILLS = 5;
const PAGE_BYTES = 4_096;
const MAX_LIFETIME_MS = 400;
const COPY_MS = 1_000;
const MAX_END_MS = 10_000;

describe('backup', () => {
  it('of a service under load contains every change acknowledged before it, even after a restore', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await importGroups(folder);
    await using service = await serve(folder);
    const load = new CreateLoad(service, token);
    await eventually('groups', () => load.tokens.size > LOADED_BEFORE);
    const before = new Map(load.tokens);
    const { code, stdout } = await run(folder, ['backup', 'groups.backup', '--json']);
    const after = new Map(load.tokens);
    await load.end();
    assert.equal(code, 0);
    const { file, user_groups: count } = JSON.parse(stdout);
    assert.equal(file, 'groups.backup');
    assert.ok(count >= GROUPS_BEFORE + before.size, `${count} of ${GROUPS_BEFORE} and ${before.size} groups`);
    assert.ok(after.size > before.size, 'the service kept serving');

    await service.kill();
    for (const file of globSync('user-groups.db*', { cwd: folder.join('data') }))
      rmSync(folder.join('data', file));
    copyFileSync(folder.join('groups.backup'), folder.join('data/user-groups.db'));
    await using restored = await serveHere(folder, {});
    await Promise.all([...before].map(([id, expected]) => assertToken(restored, token, id, expected)));
  });

  it('that replaces a database in use accepts no changes until the service is restarted', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const create = (service: Callable) =>
      service.call(token, 'POST', '/v1/user-groups', { user_group_id: 'new', name: 'New' });
    {
      await using service = await serve(folder);
      assert.equal((await runHosted(folder, ['backup', 'groups.backup'])).code, 0);
      for (const file of globSync('user-groups.db*', { cwd: folder.join('data') }))
        renameSync(folder.join('data', file), folder.join(file));
      copyFileSync(folder.join('groups.backup'), folder.join('data/user-groups.db'));
      assertProblem(await create(service), 'database_unavailable');
      assertProblem(await service.send({ method: 'GET', path: '/readyz' }), 'database_unavailable');
      await service.says(/user-groups\.db was replaced after the service opened it: stop the service/);
    }
    await using restarted = await serveHere(folder, {});
    assert.equal((await create(restarted)).status, 201);
  });

  it('records its time, which the service exports as a metric', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const metricsAddress = `127.0.0.1:${await freePort()}`;
    await using _service = await serveHere(folder, { UGS_METRICS_ADDRESS: metricsAddress });
    const backedUpAt = async () =>
      (await Scrape.of(`http://${metricsAddress}/metrics`)).sum(
        'user_group_service_backup_timestamp_seconds',
      );
    assert.equal(await backedUpAt(), 0);
    const startedAt = Date.now();
    assert.equal((await runHosted(folder, ['backup', 'groups.backup'])).code, 0);
    assert.ok((await backedUpAt()) * 1_000 >= startedAt - 10);
    const recorded = await backedUpAt();
    assert.equal((await runHosted(folder, ['backup', 'groups.backup'])).code, 2);
    assert.equal(await backedUpAt(), recorded, 'a failed backup is not recorded');
  });

  it('succeeds with a warning if its time cannot be recorded', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    mkdirSync(folder.join('data/user-groups.db.last-backup'));
    const { code, stderr } = await runHosted(folder, ['backup', 'groups.backup']);
    assert.equal(code, 0);
    assert.match(
      stderr,
      /^The backup is complete, but its time cannot be recorded beside the database: .*EISDIR/,
    );
  });

  it('creates a file that only its owner can read, and no other file', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const { code, stdout, stderr } = await runHosted(folder, ['backup', 'groups.backup']);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /^Backed up 0 user groups to groups\.backup\. The key ring is not included/);
    assert.equal(statSync(folder.join('groups.backup')).mode & 0o777, 0o600);
    assert.deepEqual(globSync('groups*', { cwd: folder.path }), ['groups.backup']);
  });

  it('is complete even if SQLite would interpret its name as a URI', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    assert.equal((await runHosted(folder, ['backup', 'file:groups'])).code, 0);
    assert.deepEqual(globSync('*groups*', { cwd: folder.path }), ['file:groups']);
    const copy = { env: { DATABASE_URL: 'sqlite:file:groups' } };
    assert.match((await runHosted(folder, ['workspace', 'list'], copy)).stdout, /^default /m);
  });

  it('is not written to standard output, nor to a file called - except as ./-', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const refused = await runHosted(folder, ['backup', '-']);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^user-group-service: [^\n]* standard output[^\n]*\n$/);
    assert.deepEqual(globSync('-', { cwd: folder.path }), []);
    assert.equal((await runHosted(folder, ['backup', './-'])).code, 0);
    assert.deepEqual(globSync('-', { cwd: folder.path }), ['-']);
  });

  it('leaves no file if it is interrupted by a signal', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const files = () => globSync('groups*', { cwd: folder.path });
    await eventually('a backup to be interrupted', async () => {
      for (const complete of files()) rmSync(folder.join(complete));
      await using program = new Program(folder, ['backup', 'groups.backup']);
      await eventually('the file', () => files().length > 0);
      program.signal('SIGINT');
      const { signal } = await program.exit();
      return signal === 'SIGINT' && !files().includes('groups.backup');
    });
    assert.deepEqual(files(), []);
  });

  it('ends during its check on a signal, and leaves no file', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    slowDownCheck(folder.join('data/user-groups.db'));
    const files = () => globSync('groups*', { cwd: folder.path });
    await using program = new Program(folder, ['backup', 'groups.backup']);
    await eventually('the file', () => files().length > 0);
    await sleep(COPY_MS);
    program.signal('SIGINT');
    assert.equal((await program.exit(MAX_END_MS)).signal, 'SIGINT');
    assert.deepEqual(files(), []);
  });

  it('leaves a file with its name only if it is complete, even after kills', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    await importGroups(folder);
    for (let kill = 0; kill < KILLS; kill++) {
      await using program = new Program(folder, ['backup', `groups-${kill}.backup`]);
      await sleep(Math.random() * MAX_LIFETIME_MS);
      await program.kill();
    }
    const complete = globSync('groups-?.backup', { cwd: folder.path });
    assert.equal((await runHosted(folder, ['backup', 'groups-last.backup'])).code, 0);
    for (const file of [...complete, 'groups-last.backup']) {
      const copy = { env: { DATABASE_URL: `sqlite:${file}`, UGS_TOKEN_KEYS_FILE: 'data/token-keys' } };
      assert.equal((await runHosted(folder, ['migrate'], copy)).stdout, 'The schema is up to date.\n');
    }
  });

  async function assertRefused(exit: Exit, code: number, reason: RegExp): Promise<void> {
    assert.match(exit.stderr, reason);
    assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code, stdout: '' });
  }

  it('is refused with 2 if the file exists, without changing it or reading the database', async () => {
    using folder = new Folder();
    writeFileSync(folder.join('mine'), 'mine');
    mkdirSync(folder.join('data'));
    writeFileSync(folder.join('data/user-groups.db'), 'This is not a database. '.repeat(100));
    await assertRefused(await runHosted(folder, ['backup', 'mine']), 2, /mine already exists/);
    assert.equal(readFileSync(folder.join('mine'), 'utf8'), 'mine');
  });

  it('is refused with 2 for PostgreSQL or if the file cannot be created, and with 3 without a database', async () => {
    using folder = new Folder();
    const database = await postgres.create();
    await assertRefused(await runHosted(folder, ['backup', 'b'], { env: database.env }), 2, /pg_dump/);
    await database.drop();
    await assertRefused(
      await runHosted(folder, ['backup', 'b']),
      3,
      /database data\/user-groups\.db does not exist/,
    );
    assert.equal(existsSync(folder.join('data')), false);
    await createApiToken(folder);
    await assertRefused(
      await runHosted(folder, ['backup', 'nowhere/b']),
      2,
      /: cannot write nowhere\/b: ENOENT: no such/,
    );
  });

  it('is refused with 69 and one line if the database is damaged, and leaves no file', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const file = folder.join('data/user-groups.db');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, 2 * PAGE_BYTES, 3 * PAGE_BYTES));
    const exit = await runHosted(folder, ['backup', 'b']);
    await assertRefused(exit, 69, /^user-group-service: SQLite: the backup is corrupt[^\n]+\n$/);
    assert.deepEqual(globSync('b*', { cwd: folder.path }), []);
  });

  it('is refused with 69 if the database belongs to another application, and leaves no file', async () => {
    using folder = new Folder();
    const env = { DATABASE_URL: 'sqlite:other.db' };
    for (const sql of ['', 'create table schema_migrations (version text)']) {
      const other = new DatabaseSync(folder.join('other.db'));
      other.exec(sql);
      other.close();
      const exit = await runHosted(folder, ['backup', 'b'], { env });
      await assertRefused(
        exit,
        69,
        /^user-group-service: SQLite: \S+\/other\.db has no table of user groups\n$/,
      );
    }
    assert.deepEqual(globSync('b*', { cwd: folder.path }), []);
  });

  it('that replaces only the main file of a database is not served with the log of that database', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const create = (service: Callable, id: string) =>
      service.call(token, 'POST', '/v1/user-groups', { user_group_id: id, name: 'N'.repeat(200) });
    assert.equal((await runHosted(folder, ['backup', 'groups.backup'])).code, 0);
    {
      await using service = await serve(folder);
      const ids = Array.from({ length: 400 }, (_, index) => `before-${index}`);
      await mapConcurrently(ids, (id) => served(() => create(service, id)));
    }
    {
      await using service = await serve(folder);
      for (let group = 0; group < 10; group++) await create(service, `after-${group}`);
      copyFileSync(folder.join('groups.backup'), folder.join('copy'));
      renameSync(folder.join('copy'), folder.join('data/user-groups.db'));
      assertProblem(await create(service, 'refused'), 'database_unavailable');
      await service.says(/stop the service, move [^ ]+-wal and [^ ]+-shm of the replaced file away/);
    }
    const backup = readFileSync(folder.join('data/user-groups.db'));
    const foreignLog =
      /is a backup, and [^ ]+-wal is the log of the database that it replaced: move [^ ]+-wal and [^ ]+-shm away/;
    symlinkSync(folder.join('data/user-groups.db'), folder.join('link.db'));
    for (const path of ['data/user-groups.db', 'link.db'])
      for (const command of [['api-token', 'list'], ['backup', 'mixed.backup'], ['serve']])
        await assertRefused(
          await runHosted(folder, command, { env: { DATABASE_URL: `sqlite:${folder.join(path)}` } }),
          69,
          foreignLog,
        );
    const doctor = await runHosted(folder, ['doctor']);
    assert.match(doctor.stdout, foreignLog);
    assert.deepEqual(readFileSync(folder.join('data/user-groups.db')), backup);
    for (const suffix of ['-wal', '-shm'])
      renameSync(folder.join(`data/user-groups.db${suffix}`), folder.join(`old${suffix}`));
    await using restarted = await serveHere(folder, {});
    assert.equal((await create(restarted, 'new')).status, 201);
    assert.equal((await runHosted(folder, ['backup', 'checked.backup'])).code, 0);
  });
});

/** Imports as many groups as a backup does not copy in one step. */
async function importGroups(folder: Folder): Promise<void> {
  const lines = Array.from({ length: GROUPS_BEFORE }, (_, index) =>
    JSON.stringify({ user_group_id: `before-${index}`, name: 'G', properties: { text: 'x'.repeat(2_000) } }),
  );
  writeFileSync(folder.join('groups.ndjson'), lines.join('\n'));
  assert.equal((await runHosted(folder, ['import', 'groups.ndjson', '--workspace', 'default'])).code, 0);
}

/** Creates groups on several connections until `end` is called. */
class CreateLoad {
  /** Tokens of the groups whose creation was acknowledged, by id. */
  readonly tokens = new Map<string, string>();
  #ended = false;
  #next = 0;
  readonly #connections: Promise<void>[];

  constructor(service: Service, token: string) {
    this.#connections = Array.from({ length: CONNECTIONS }, async () => {
      while (!this.#ended) {
        const id = `group-${this.#next++}`;
        const body = { user_group_id: id, name: id, properties: { text: 'x'.repeat(500) } };
        const { status, json } = await served(() => service.call(token, 'GET', '/api/user', body));
        assert.equal(status, 200);
        this.tokens.set(id, json.user_group.token);
      }
    });
    // `end` reports failures.
    for (const connection of this.#connections) connection.catch(() => {});
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#connections);
  }
}

async function assertToken(service: Callable, token: string, id: string, expected: string): Promise<void> {
  const { json } = await served(() => service.call(token, 'GET', '/api/user', { user_group_id: id }));
  assert.equal(json.user_group?.token, expected, id);
}
