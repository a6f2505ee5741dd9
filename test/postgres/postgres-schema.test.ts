// The PostgreSQL schema is created once, whichever process starts first, and can be used without owning it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Migration } from '../../src/store/migration.ts';
import type { PostgresOptions } from '../../src/store/postgres/client/options.ts';
import { migrate, ServerUnfit } from '../../src/store/postgres/schema/migrate.ts';
import { withSchemaSession } from '../../src/store/postgres/schema/session.ts';
import { databaseOf, postgres } from '../support/database.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { frozenDatabases, thaw } from '../support/migration/frozen-database.ts';
import { byteOrder } from '../support/postgres/embedded.ts';
import { optionsFor } from '../support/postgres/options.ts';
import { eventually, Folder, Program, runHosted } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql, SqlConnection } from '../support/sql.ts';

const REPORT = 'another session holds a lock that the migration needs';
const TIMEOUTS = { connectTimeoutMs: 10_000, statementTimeoutMs: 2_000 };

describe('a PostgreSQL database without a schema', () => {
  const other = `other_${randomBytes(8).toString('hex')}`;
  const database = databaseOf(postgres);
  afterEach(() => runSql(database, `drop database if exists ${other}`));

  it('is not changed if the server is older than version 14', async () => {
    const version = await versionOf(database.url);
    await using proxy = await FaultProxy.start(database.url);
    // Same length, because messages contain their length.
    const old = version.replace(/^\d\d/, '13');
    proxy.rewrite = (message) => Buffer.from(message.toString('latin1').replaceAll(version, old), 'latin1');
    await assert.rejects(withSchemaSession(optionsFor(proxy.url, TIMEOUTS), migrate), (error: Error) => {
      assert.ok(error instanceof ServerUnfit);
      assert.match(error.message, /PostgreSQL 13.*14/);
      return true;
    });
  });

  for (const [title, encoding, setting, reason] of [
    ['its encoding does not support every character', 'LATIN1', 'array_nulls = on', /LATIN1.*UTF8/],
    ['array_nulls is off, so that the server reads null as text', 'UTF8', 'array_nulls = off', /array_nulls/],
  ] as const) {
    it(`is not changed if ${title}`, async () => {
      await runSql(
        database,
        `create database ${other} encoding '${encoding}' ${byteOrder} template template0`,
      );
      await runSql(database, `alter database ${other} set ${setting}`);
      using folder = new Folder();
      const { href } = Object.assign(new URL(database.url), { pathname: other });
      const env = { ...database.env, DATABASE_URL: href };
      const { code, stderr } = await runHosted(folder, ['migrate'], { env });
      assert.equal(code, 78);
      assert.match(stderr, /^user-group-service: [^\n]+\n$/);
      assert.match(stderr, reason);
      assert.deepEqual(
        await runSql({ ...database, url: href }, "select from pg_class where relname = 'schema_migrations'"),
        [],
      );
    });
  }

  for (const [title, table] of [
    ['a migrations table', 'schema_migrations (version text primary key)'],
    ['a table', 'workspaces (id integer primary key)'],
  ] as const) {
    it(`is not changed if ${title} of another application exists`, async () => {
      await runSql(database, `create database ${other} template template0`);
      const { href } = Object.assign(new URL(database.url), { pathname: other });
      await runSql({ ...database, url: href }, `create table ${table}`);
      using folder = new Folder();
      const env = { ...database.env, DATABASE_URL: href };
      const { code, stderr } = await runHosted(folder, ['migrate'], { env });
      assert.equal(code, 78);
      assert.match(stderr, /^user-group-service: [^\n]* its own database or schema\n$/);
    });
  }

  it('is used if its encoding preserves all bytes', async () => {
    await runSql(database, `create database ${other} encoding 'SQL_ASCII' ${byteOrder} template template0`);
    const { href } = Object.assign(new URL(database.url), { pathname: other });
    const env = { ...database.env, DATABASE_URL: href };
    const service = await TestService.start(postgres, { database: { ...database, url: href, env } });
    for (const text of ['é', '日本', '😀']) {
      assert.equal((await service.get({ user_group_id: text, name: text })).json.new_user_group, true);
      const { json } = await service.call('GET', `/v1/user-groups?search=${encodeURIComponent(text)}`);
      assert.deepEqual(
        json.user_groups.map(({ name }: { name: string }) => name),
        [text],
      );
    }
    await service.stop();
  });
});

it('a PostgreSQL user with short timeouts still waits for a concurrent migration', async () => {
  await using database = await postgres.create();
  await using other = await SqlConnection.open(database.url);
  await other.query(
    'create table schema_migrations (number integer primary key, name text, applied_at bigint)',
  );
  for (const limit of ['statement_timeout', 'lock_timeout']) {
    await runSql(database, `alter database ${other.database} set ${limit} = '200ms'`);
  }
  await other.query('begin');
  await other.query("insert into schema_migrations values (1, 'another', 0)");
  const migrating = namesOfApplied(optionsFor(database.url, TIMEOUTS));
  await sleep(1_000);
  await other.query('rollback');
  assert.equal((await migrating)[0], '0001-user-groups.sql');
});

describe('a migration while another session holds a lock', () => {
  const frozen = frozenDatabases('postgres').find(({ schema }) => schema === 5)!;

  it('lets the requests of other processes pass', async () => {
    await using database = await thaw(frozen, postgres);
    await using dump = await SqlConnection.open(database.url);
    await dump.query('begin; lock table deliveries in access share mode');
    const migrating = namesOfApplied(optionsFor(database.url, TIMEOUTS));
    await using request = await SqlConnection.open(database.url);
    await request.query("set lock_timeout = '1500ms'");
    const tookMs: number[] = [];
    for (const end = performance.now() + 5_000; performance.now() < end; await sleep(20)) {
      const startedAt = performance.now();
      await request.query('select count(*) from deliveries');
      tookMs.push(performance.now() - startedAt);
    }
    assert.ok(
      tookMs.some((ms) => ms > 500),
      'the migration has waited',
    );
    await dump.query('commit');
    assert.equal((await migrating)[0], '0006-usage.sql');
  });

  for (const command of ['serve', 'migrate']) {
    it(`is reported once by ${command}`, async () => {
      using folder = new Folder();
      await using database = await thaw(frozen, postgres);
      await using dump = await SqlConnection.open(database.url);
      await dump.query('begin; lock table deliveries in access share mode');
      await using program = new Program(folder, [command], { env: database.env });
      const output = () => program.stdout + program.stderr;
      await eventually('the report', () => output().includes(REPORT) || program.hasEnded);
      await waitUntilBlocked(dump, 'deliveries');
      await dump.query('commit');
      await program.says(/listening|Applied 0006-usage/);
      assert.equal(output().split(REPORT).length, 2, output());
      assert.equal(output().split('migrating the database').length, command === 'serve' ? 2 : 1);
    });
  }

  it('reports once that it waits for another process, and takes over if that one fails', async () => {
    using folder = new Folder();
    await using database = await thaw(frozen, postgres);
    await using other = await SqlConnection.open(database.url);
    await other.query("begin; insert into schema_migrations values (6, '0006-usage.sql', 0)");
    await using program = new Program(folder, ['serve'], { env: database.env });
    const WAITING = 'waiting to record a migration, which another process may be applying';
    await program.says(new RegExp(WAITING));
    await other.query('rollback');
    await program.says(/"migrated the database".*listening/s);
    assert.equal(program.stdout.split(WAITING).length, 2);
  });

  it('is repeated after a deadlock', async () => {
    await using database = await thaw(frozen, postgres);
    await using request = await SqlConnection.open(database.url);
    // The migration is the victim, even if the request begins to wait late.
    await request.query("set deadlock_timeout = '1min'");
    await request.query('begin; lock table api_tokens in row exclusive mode');
    const migrating = namesOfApplied(optionsFor(database.url, TIMEOUTS));
    await waitUntilBlocked(request, 'api_tokens');
    await request.query('select count(*) from deliveries; commit');
    assert.equal((await migrating)[0], '0006-usage.sql');
  });
});

describe('twenty connections that migrate concurrently', () => {
  // Repeated, because the interleaving varies.
  for (let attempt = 1; attempt <= 2; attempt++) {
    it(`run each migration once (${attempt})`, async () => {
      await using database = await postgres.create();
      const options = optionsFor(database.url, TIMEOUTS);
      const applied = await Promise.all(Array.from({ length: 20 }, () => namesOfApplied(options)));
      const names = applied.flat().sort();
      assert.deepEqual(names, [...new Set(names)]);
      assert.equal(names[0], '0001-user-groups.sql');
      assert.deepEqual(await namesOfApplied(options), []);
    });
  }
});

async function waitUntilBlocked(connection: SqlConnection, table: string): Promise<void> {
  const waiting = `select from pg_locks where not granted and relation = '${table}'::regclass`;
  await eventually('a wait for the lock', async () => (await connection.query(waiting)).rowCount! > 0);
}

async function namesOfApplied(options: PostgresOptions): Promise<string[]> {
  const names: string[] = [];
  const observer = { applied: ({ name }: Migration) => void names.push(name) };
  await withSchemaSession(options, (session) => migrate(session, observer));
  return names;
}

async function versionOf(url: string): Promise<string> {
  await using client = await SqlConnection.open(url);
  const { rows } = await client.query('show server_version');
  return rows[0].server_version;
}

it('a PostgreSQL user without the privilege to create tables serves a database migrated by another user', async () => {
  const owner = await TestService.start(postgres);
  const name = `reader_${randomBytes(8).toString('hex')}`;
  const client = await SqlConnection.open(owner.database.url);
  try {
    await client.query(`create role ${name} login password '${name}'`);
    await client.query(`revoke create on schema public from public`);
    await client.query(`grant select, insert, update, delete on all tables in schema public to ${name}`);
    const url = new URL(owner.database.url);
    url.username = name;
    url.password = name;
    const database = { ...owner.database, env: { ...owner.database.env, DATABASE_URL: url.href } };
    // The state after a migration by an owner without default privileges.
    await client.query(
      `revoke all on usage_counts, user_group_renames from ${name}; create table other (id integer)`,
    );
    await assert.rejects(
      TestService.start(postgres, { database }),
      /permission denied for tables usage_counts, user_group_renames: .*grant/,
    );
    await client.query(`grant select, insert, update, delete on usage_counts, user_group_renames to ${name}`);
    // Some platforms enable it for every table.
    await client.query('alter table api_tokens enable row level security');
    await assert.rejects(
      TestService.start(postgres, { database }),
      /row-level security hides all rows of api_tokens/,
    );
    await client.query('alter table api_tokens disable row level security');
    const service = await TestService.start(postgres, { database });
    const { json } = await service.get({ user_group_id: 'a', name: 'A' });
    assert.equal(json.new_user_group, true);
    const { token } = json.user_group;
    assert.equal((await service.resolve(token)).status, 200);
    await client.query('alter table user_groups enable row level security');
    assert.equal((await service.resolve(token)).status, 503, 'hidden rows, which must not count as unknown');
    using folder = new Folder();
    const { code, stderr } = await runHosted(folder, ['workspace', 'list'], database);
    assert.deepEqual(
      { code, hides: stderr.includes('hides all rows of user_groups') },
      { code: 69, hides: true },
    );
    await client.query(`create policy mine on user_groups to ${name} using (true)`);
    await service.stop();
    const other = await TestService.start(postgres, { database });
    assert.equal((await other.resolve(token)).status, 200);
    await other.stop();
  } finally {
    await client.query(`drop owned by ${name}`);
    await client.query(`drop role ${name}`);
    await client.end();
    await owner.end();
  }
});

it('a PostgreSQL database that was moved without its last ids is refused', async () => {
  const service = await TestService.start(postgres);
  const { env } = service.database;
  const refused = async (): Promise<void> => {
    using folder = new Folder();
    const { code, stderr } = await runHosted(folder, ['migrate'], { env });
    assert.equal(code, 78);
    assert.match(stderr, /^user-group-service: the table id_blocks is older than others: [^\n]+\n$/);
  };
  await runSql(service.database, "update id_blocks set next = 1 where sequence = 'workspace_id'");
  await refused();
  await runSql(
    service.database,
    "update id_blocks set next = case sequence when 'api_token_id' then 1 else next + 1 end",
  );
  await refused();
  await service.end();
});
