// A full disk under a SQLite database: readiness reports it, reads are served, and free space is enough to
// recover.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { canMount, SmallDisk } from '../../reliability/support/small-disk.ts';
import { frozenDatabases } from '../support/migration/frozen-database.ts';
import { createApiToken, Folder, PROGRAM, Program, run, type Service, serve } from '../support/process.ts';

const DISK_MEGABYTES = 4;
const LARGE = 60_000;
const FILL_SIZES = [1_048_576, 65_536, 4_096];
const FILL = 'fill-';

describe('Readiness on a full disk (SQLite)', {
  skip: canMount() ? false : 'no file system may be mounted',
}, () => {
  it('fails when changes have filled the disk, until space is free again', () =>
    onSmallDisk(async (site) => {
      let created = 0;
      while ((await site.create(`large ${created}`, LARGE)).status === 200) created++;
      assert.ok(created > 0);
      // A small change may fit where a large one does not.
      for (let round = 0; round < 30; round++) {
        const changes = await Promise.all([site.create(`l${round}`, LARGE), site.create(`s${round}`)]);
        if (changes.some(({ status }) => status === 200)) continue;
        await assertFull(site);
      }
      site.freeSpace();
      await assertReady(site);
      assert.equal((await site.create('after', LARGE)).status, 200);
    }));

  it('fails when another program has filled it, before any change has failed', () =>
    onSmallDisk(async (site) => {
      site.fill();
      await assertFull(site);
      assert.equal((await site.create('one')).status, 503);
      await assertFull(site);
      site.empty();
      await assertReady(site);
      assert.equal((await site.create('one')).status, 200);
    }));

  it('passes on a disk that is nearly full as long as changes succeed, and leaves no file', () =>
    onSmallDisk(async (site) => {
      site.fill({ leaveBytes: 500_000 });
      for (let round = 0; round < 5; round++) {
        assert.equal((await site.create(`group ${round}`)).status, 200);
        await assertReady(site);
      }
      assert.deepEqual(
        site.files().filter((name) => name.includes('scratch')),
        [],
      );
    }));
});

describe('A start on a full disk', {
  skip: canMount() ? false : 'no file system may be mounted',
}, () => {
  for (const leftBytes of [0, 8_192, 24_576])
    it(`fails with 69, and says which disk needs space: ${leftBytes} bytes are left`, async () => {
      using folder = new Folder();
      const data = folder.join('data');
      using _disk = new SmallDisk(data, 1);
      await createApiToken(folder);
      fill(data, leftBytes);
      await using program = new Program(folder, ['serve', '--port', '0']);
      const { code, stderr } = await program.exit();
      assert.match(stderr, /^[^\n]+: SQLite: [^\n]+: free space on the disk of \S+\n$/);
      assert.equal(code, 69);
    });
});

describe('A backup on a full disk', {
  skip: canMount() ? false : 'no file system may be mounted',
}, () => {
  it('fails with 2, names the file and the reason, and leaves no file', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const backups = folder.join('backups');
    using _disk = new SmallDisk(backups, 1);
    fill(backups, 0);
    const { code, stdout, stderr } = await run(folder, ['backup', 'backups/groups.backup']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /: cannot write backups\/groups\.backup: the disk is full\n$/);
    assert.deepEqual(
      readdirSync(backups).filter((name) => name.startsWith('groups')),
      [],
    );
  });
});

describe('A restore to a full disk', {
  skip: canMount() ? false : 'no file system may be mounted',
}, () => {
  it('fails with 69, says which disk needs space, and leaves no file', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    assert.equal((await run(folder, ['backup', 'backup'])).code, 0);
    const restored = folder.join('restored');
    using _disk = new SmallDisk(restored, 1);
    fill(restored, 65_536);
    const env = { DATABASE_URL: 'sqlite:restored/groups.db' };
    const { code, stderr } = await run(folder, ['restore', 'backup'], { env });
    assert.match(
      stderr,
      /^[^\n]+: SQLite: ENOSPC[^\n]+: free space on the disk of \S+\/restored\/groups\.db\n$/,
    );
    assert.equal(code, 69);
    assert.deepEqual(
      readdirSync(restored).filter((name) => name.endsWith('.new') || name === 'groups.db'),
      [],
    );
  });
});

describe('A migration of a large table', {
  skip: canMount() ? false : 'no file system may be mounted',
}, () => {
  it('needs no space in the directory for temporary files', async () => {
    using folder = new Folder();
    mkdirSync(folder.join("owner's"));
    const database = new DatabaseSync(folder.join("owner's/groups.db"));
    database.exec(`${frozenDatabases('sqlite')[0]!.sql};
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20000)
      insert into user_groups select bucket, workspace_id, environment, 'large-' || n, 1000 + n, name, mapping,
        hex(zeroblob(100)), version, token_digest || n, token_key_id, token_ciphertext, null, null, created_at, updated_at
        from (select * from user_groups limit 1), numbers`);
    database.close();
    const temporary = folder.join('temporary');
    using _disk = new SmallDisk(temporary, 1);
    const env = { DATABASE_URL: "sqlite:owner's/groups.db", TMPDIR: temporary };
    const { code, stderr } = await run(folder, ['migrate'], { env });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });
});

describe('An import that copies standard input to a full disk', {
  skip: canMount() ? false : 'no file system may be mounted',
}, () => {
  it('fails with 2, names the copy, and leaves no file', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const temporary = folder.join('temporary');
    using _disk = new SmallDisk(temporary, 1);
    const groups = Array.from({ length: 30_000 }, (_, index) => ({
      user_group_id: `${index}`,
      name: 'Group',
    }));
    writeFileSync(folder.join('groups'), groups.map((group) => `${JSON.stringify(group)}\n`).join(''));
    const command = 'exec "$0" "$@" import - --workspace default --update --prune < groups';
    const args = ['-c', command, process.execPath, PROGRAM];
    const { code, stderr } = await run(folder, args, { command: 'sh', env: { TMPDIR: temporary } });
    assert.match(stderr, /^user-group-service: cannot copy the input to \S+: ENOSPC[^\n]+\n$/);
    assert.equal(code, 2);
    assert.deepEqual(
      readdirSync(temporary).filter((name) => name.startsWith('user-group-service')),
      [],
    );
  });
});

interface Site {
  service: Service;
  create(id: string, bytes?: number): ReturnType<Service['call']>;
  fill(options?: { leaveBytes: number }): void;
  empty(): void;
  /** Deletes the files that were on the disk before the service started. */
  freeSpace(): void;
  files(): string[];
}

async function onSmallDisk(work: (site: Site) => Promise<void>): Promise<void> {
  using folder = new Folder();
  const data = folder.join('data');
  using disk = new SmallDisk(data, DISK_MEGABYTES);
  disk.load(2);
  const { token } = await createApiToken(folder);
  await using service = await serve(folder);
  const site: Site = {
    service,
    create: (id, bytes = 1) =>
      service.call(token, 'GET', '/api/user', {
        user_group_id: id,
        name: 'Name',
        properties: { a: 'x'.repeat(bytes) },
      }),
    fill: ({ leaveBytes } = { leaveBytes: 0 }) => fill(data, leaveBytes),
    empty: () => {
      for (const name of readdirSync(data)) if (name.startsWith(FILL)) rmSync(folder.join('data', name));
    },
    freeSpace: () => disk.unload(),
    files: () => readdirSync(data),
  };
  assert.equal((await site.create('present')).status, 200);
  await assertReady(site);
  await work(site);
}

/** Fills the disk, leaving `leaveBytes` free. */
function fill(path: string, leaveBytes: number): void {
  let number = 0;
  for (const size of FILL_SIZES) {
    while (freeBytes(path) - size >= leaveBytes)
      writeFileSync(`${path}/${FILL}${number++}`, Buffer.alloc(size));
  }
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

async function assertReady({ service }: Site): Promise<void> {
  assert.equal((await service.send({ path: '/readyz' })).status, 200);
}

async function assertFull({ service, create }: Site): Promise<void> {
  const { status, json } = await service.send({ path: '/readyz' });
  assert.deepEqual([status, json.code], [503, 'database_unavailable']);
  assert.equal((await service.send({ path: '/healthz' })).status, 200);
  assert.equal((await create('present')).status, 200);
}
