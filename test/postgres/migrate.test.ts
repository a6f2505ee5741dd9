// The schema on PostgreSQL comes to be once, whoever starts, and does not need to be one's own to be used.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Secret } from '../../src/domain/secret.ts';
import { migrate, ServerUnfit } from '../../src/store/postgres/migrate.ts';
import { onMigrationConnection } from '../../src/store/postgres/migration-connection.ts';
import type { PostgresOptions } from '../../src/store/postgres/options.ts';
import { postgres, type TestDatabase } from '../database.ts';
import { FaultProxy } from '../faults/proxy.ts';
import { Folder, run } from '../process.ts';
import { TestService } from '../service.ts';
import { runSql } from '../sql.ts';

describe('a PostgreSQL database without a schema', () => {
  const other = `other_${randomBytes(8).toString('hex')}`;
  let database: TestDatabase;
  before(async () => {
    database = await postgres.create();
  });
  afterEach(() => runSql(database, `drop database if exists ${other}`));
  after(() => database.drop());

  it('is left alone where the server is older than version 14', async () => {
    const version = await versionOf(database.url);
    await using proxy = await FaultProxy.start(database.url);
    // As long as the other one: a message says how long it is.
    const old = version.replace(/^\d\d/, '13');
    proxy.rewrite = (message) => Buffer.from(message.toString('latin1').replaceAll(version, old), 'latin1');
    await assert.rejects(onMigrationConnection(optionsFor(proxy.url), migrate), (error: Error) => {
      assert.ok(error instanceof ServerUnfit);
      assert.match(error.message, /PostgreSQL 13.*14/);
      return true;
    });
  });

  for (const [title, encoding, setting, reason] of [
    ['its encoding has not every character', 'LATIN1', 'array_nulls = on', /LATIN1.*UTF8/],
    ['the server makes a text of what is null', 'UTF8', 'array_nulls = off', /array_nulls/],
  ] as const) {
    it(`is left alone where ${title}`, async () => {
      await runSql(
        database,
        `create database ${other} encoding '${encoding}' locale_provider libc locale 'C' template template0`,
      );
      await runSql(database, `alter database ${other} set ${setting}`);
      using folder = new Folder();
      const { href } = Object.assign(new URL(database.url), { pathname: other });
      const env = { ...database.env, DATABASE_URL: href };
      const { code, stderr } = await run(folder, ['migrate'], { env });
      assert.equal(code, 78);
      assert.match(stderr, /^user-group-service: [^\n]+\n$/);
      assert.match(stderr, reason);
      assert.deepEqual(
        await runSql({ ...database, url: href }, "select from pg_class where relname = 'schema_migrations'"),
        [],
      );
    });
  }

  for (const [whose, table] of [
    ['the table of migrations', 'schema_migrations (version text primary key)'],
    ['a table', 'workspaces (id integer primary key)'],
  ] as const) {
    it(`is left alone where ${whose} is somebody else’s`, async () => {
      await runSql(database, `create database ${other} template template0`);
      const { href } = Object.assign(new URL(database.url), { pathname: other });
      await runSql({ ...database, url: href }, `create table ${table}`);
      using folder = new Folder();
      const env = { ...database.env, DATABASE_URL: href };
      const { code, stderr } = await run(folder, ['migrate'], { env });
      assert.equal(code, 78);
      assert.match(stderr, /^user-group-service: [^\n]* a schema of its own\n$/);
    });
  }

  it('is used where its encoding keeps what it is given', async () => {
    await runSql(
      database,
      `create database ${other} encoding 'SQL_ASCII' locale_provider libc locale 'C' template template0`,
    );
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

it('a user of PostgreSQL who is given little time waits all the same for another one who migrates', async () => {
  const database = await postgres.create();
  const other = new pg.Client(database.url);
  await other.connect();
  try {
    await other.query(
      'create table schema_migrations (number integer primary key, name text, applied_at bigint)',
    );
    for (const limit of ['statement_timeout', 'lock_timeout']) {
      await runSql(database, `alter database ${other.database} set ${limit} = '200ms'`);
    }
    await other.query('begin');
    await other.query("insert into schema_migrations values (1, 'another', 0)");
    const migrating = onMigrationConnection(optionsFor(database.url), migrate);
    await sleep(1_000);
    await other.query('rollback');
    assert.equal((await migrating)[0], '0001-user-groups.sql');
  } finally {
    await other.end();
    await database.drop();
  }
});

describe('twenty connections that migrate at the same moment', () => {
  // Where they meet differs from time to time.
  for (let time = 1; time <= 5; time++) {
    it(`run each migration once (${time})`, async () => {
      const database = await postgres.create();
      try {
        const options = optionsFor(database.url);
        const applied = await Promise.all(
          Array.from({ length: 20 }, () => onMigrationConnection(options, migrate)),
        );
        const names = applied.flat().sort();
        assert.deepEqual(names, [...new Set(names)]);
        assert.equal(names[0], '0001-user-groups.sql');
        assert.deepEqual(await onMigrationConnection(options, migrate), []);
      } finally {
        await database.drop();
      }
    });
  }
});

function optionsFor(url: string): PostgresOptions {
  return {
    url: new Secret(url),
    poolSize: 1,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 2_000,
    sessionSettings: true,
    preparedStatements: true,
  };
}

async function versionOf(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query('show server_version');
  await client.end();
  return rows[0].server_version;
}

it('a user of PostgreSQL who may create no tables serves the database that another one has migrated', async () => {
  const owner = await TestService.start(postgres);
  const name = `reader_${randomBytes(8).toString('hex')}`;
  const client = new pg.Client(owner.database.url);
  await client.connect();
  try {
    await client.query(`create role ${name} login password '${name}'`);
    await client.query(`revoke create on schema public from public`);
    await client.query(`grant select, insert, update, delete on all tables in schema public to ${name}`);
    const url = new URL(owner.database.url);
    url.username = name;
    url.password = name;
    const service = await TestService.start(postgres, {
      database: { ...owner.database, env: { ...owner.database.env, DATABASE_URL: url.href } },
    });
    const { json } = await service.get({ user_group_id: 'a', name: 'A' });
    assert.equal(json.new_user_group, true);
    await service.stop();
  } finally {
    await client.query(`drop owned by ${name}`);
    await client.query(`drop role ${name}`);
    await client.end();
    await owner.end();
  }
});
