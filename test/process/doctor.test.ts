// `doctor` finds each fault of a deployment, says what to do about it, and changes nothing. Each fault is
// real.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  globSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { before, describe, it } from 'node:test';
import { canMount, SmallDisk } from '../../reliability/support/small-disk.ts';
import { readEnvironmentFile } from '../../src/commands/doctor/environment-file.ts';
import { generateKeyLine } from '../../src/domain/key-ring.ts';
import { createdRelations, createdTables } from '../../src/store/postgres/schema/migrate.ts';
import { databaseOf, postgres } from '../support/database.ts';
import {
  createApiToken,
  type Exit,
  Folder,
  PROGRAM,
  Program,
  run,
  runHosted,
  serve,
} from '../support/process.ts';
import { runSql, SqlConnection } from '../support/sql.ts';

const DATABASE = 'data/user-groups.db';

interface Check {
  name: string;
  status: string;
  message: string;
  remedy?: string;
}

function checksOf({ stdout }: Exit): Check[] {
  return JSON.parse(stdout).checks;
}

/** The test server runs without fsync, and other tests leave transactions open on it. */
function isAboutTestServer({ name, message }: Check): boolean {
  return message.includes('fsync = off') || name === 'event feed';
}

/** Returns the checks that are neither ok nor skipped, as `status name`. */
function findings(exit: Exit): string[] {
  return checksOf(exit)
    .filter((check) => /warning|failed/.test(check.status) && !isAboutTestServer(check))
    .map(({ status, name }) => `${status} ${name}`);
}

type Options = Parameters<typeof run>[2];

function doctor(folder: Folder, options?: Options, args: readonly string[] = []): Promise<Exit> {
  return runHosted(folder, ['doctor', '--json', ...args], options);
}

/** Asserts that exactly this check is a warning or failed, with this message and a remedy. */
async function assertFound(
  status: 'warning' | 'failed',
  name: string,
  message: RegExp,
  exit: Exit,
): Promise<void> {
  assert.deepEqual(findings(exit), [`${status} ${name}`], exit.stdout);
  const found = checksOf(exit).find(
    (check) => check.name === name && check.status === status && !isAboutTestServer(check),
  )!;
  assert.match(found.message, message);
  assert.ok(found.remedy!.length > 0);
  assert.equal(exit.code, status === 'failed' ? 65 : 0);
}

async function importGroup(folder: Folder, options?: Options): Promise<void> {
  writeFileSync(folder.join('groups.ndjson'), JSON.stringify({ user_group_id: 'one', name: 'One' }));
  const args = ['import', 'groups.ndjson', '--workspace', 'default', '--create-workspace'];
  assert.equal((await runHosted(folder, args, options)).code, 0);
}

describe('doctor on SQLite', () => {
  const folder = Folder.of();
  before(async () => {
    await createApiToken(folder);
    await importGroup(folder);
  });

  const sql = (text: string) => runSql({ url: `sqlite:${folder.join(DATABASE)}` }, text);

  it('prints one line per check and exits with 0 if none failed', async () => {
    const { code, stdout, stderr } = await run(folder, ['doctor']);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    for (const line of lines) assert.match(line, /^(?:ok|skipped) +\w[\w ]+ {2}\w/);
    assert.match(stdout, / has 1 key, among them every key in use, and decrypts 1 sampled token$/m);
    assert.deepEqual(
      checksOf(await doctor(folder)).map(({ name }) => name),
      [
        'settings',
        'database',
        'privileges',
        'schema',
        'keys',
        'clock',
        'secret files',
        'database file',
        'disk space',
        'open files',
      ],
    );
  });

  it('works while the database is served, and changes neither files nor data', async () => {
    await using _service = await serve(folder);
    const files = () => globSync('data/*', { cwd: folder.path }).sort();
    const state = () =>
      files().map((file) => [file, statSync(folder.join(file)).mode, readFileSync(folder.join(file))]);
    const before = state();
    assert.deepEqual(findings(await run(folder, ['doctor', '--json'])), []);
    assert.deepEqual(state(), before);
  });

  it('reports an invalid setting, and never prints a secret', async () => {
    const env = { PORT: '99999', UGS_TOKEN_KEYS: generateKeyLine().reveal() };
    await assertFound('failed', 'settings', /^PORT must be/, await doctor(folder, { env }));
    const shared = { PORT: '9464', UGS_METRICS_ADDRESS: '127.0.0.1:9464' };
    await assertFound('failed', 'settings', /^UGS_METRICS_ADDRESS/, await doctor(folder, { env: shared }));
  });

  it('reports a missing database, and creates none', async () => {
    using empty = new Folder();
    await assertFound('warning', 'database', /does not exist/, await doctor(empty));
    assert.deepEqual(globSync('*', { cwd: empty.path }), []);
    const aboutDatabase = checksOf(await doctor(empty)).filter(({ name }) => name.startsWith('database'));
    assert.deepEqual(
      aboutDatabase.map(({ status }) => status),
      ['warning', 'skipped'],
    );
  });

  it('reports a file that is not a database', async () => {
    using broken = new Folder();
    mkdirSync(broken.join('data'));
    writeFileSync(broken.join(DATABASE), 'This is not a database. '.repeat(100), { mode: 0o600 });
    await assertFound('failed', 'database', /not a database/, await doctor(broken));
  });

  it('reports a file with a damaged page', async () => {
    using damaged = new Folder();
    await importGroup(damaged);
    const file = readFileSync(damaged.join(DATABASE));
    file.fill('?', file.length - 4_096);
    writeFileSync(damaged.join(DATABASE), file);
    await assertFound('failed', 'database', /is damaged: /, await doctor(damaged));
  });

  it('reports a directory, and does not advise to make it inaccessible', async () => {
    using wrong = new Folder();
    mkdirSync(wrong.join(DATABASE), { recursive: true, mode: 0o755 });
    await assertFound('failed', 'database', /is a directory/, await doctor(wrong));
  });

  it('reports a file that the service refuses to serve', async () => {
    using other = new Folder();
    await createApiToken(other);
    linkSync(other.join(DATABASE), other.join('data/link.db'));
    await assertFound(
      'failed',
      'database',
      /has another name too, a hard link data\/link\.db/,
      await doctor(other),
    );
    rmSync(other.join('data/link.db'));
    await runSql({ url: `sqlite:${other.join(DATABASE)}` }, 'drop table schema_migrations');
    await assertFound('failed', 'database', /has tables of another application/, await doctor(other));
  });

  it('reports a schema that is older or newer than this version', async () => {
    await sql(
      'update schema_migrations set number = number + 100 where number = (select max(number) from schema_migrations)',
    );
    await assertFound('failed', 'schema', /newer than this version/, await doctor(folder));
    await sql('update schema_migrations set number = number - 100 where number > 100');
    const [removed] = await sql(
      'delete from schema_migrations where number = (select max(number) from schema_migrations) returning *',
    );
    await assertFound('warning', 'schema', /1 migration is pending, from /, await doctor(folder));
    const { number, name } = removed as { number: number; name: string };
    await sql(`insert into schema_migrations values (${number}, '${name}', 0)`);
  });

  it('reports a key ring that is missing, damaged, lacks a key, or does not decrypt a token', async () => {
    const file = folder.join('data/token-keys');
    const ring = readFileSync(file);
    rmSync(file);
    await assertFound('failed', 'keys', /token-keys does not exist/, await doctor(folder));
    writeFileSync(file, ring.subarray(0, 30), { mode: 0o600 });
    await assertFound('failed', 'keys', /does not have the format/, await doctor(folder));
    writeFileSync(file, generateKeyLine().reveal());
    await assertFound('failed', 'keys', /lacks the token key/, await doctor(folder));
    writeFileSync(file, ring);
    await sql('update user_groups set team_id = team_id + 1000');
    await assertFound('failed', 'keys', /cannot decrypt the token of user group "one"/, await doctor(folder));
    await sql('update user_groups set team_id = team_id - 1000');
  });

  it('reports files that other users can read', async () => {
    for (const [file, status, name] of [
      ['data/token-keys', 'failed', 'secret files'],
      [DATABASE, 'warning', 'database file'],
    ] as const) {
      chmodSync(folder.join(file), 0o644);
      await assertFound(status, name, new RegExp(`other users can .* ${file}`), await doctor(folder));
      chmodSync(folder.join(file), 0o600);
    }
  });

  it('does not say who can read files of another user', {
    skip: process.getuid?.() !== 0 && 'only root can change the owner of files',
  }, async () => {
    const files = ['data/token-keys', DATABASE];
    const messages = async () => {
      const checks = checksOf(await doctor(folder)).filter(({ name }) => / files?$/.test(name));
      return checks.slice(0, 2).map(({ status, message }) => `${status} ${message}`);
    };
    assert.deepEqual(
      await messages(),
      files.map((file) => `ok only the owner can read ${file}`),
    );
    for (const file of files) {
      chmodSync(folder.join(file), 0o644);
      chownSync(folder.join(file), 65_534, 65_534);
    }
    assert.deepEqual(
      await messages(),
      files.map(
        (file) =>
          `ok other users can read no file of this user; not checked, because it belongs to another user or to a container engine: ${file}`,
      ),
    );
    for (const file of files) {
      chownSync(folder.join(file), 0, 0);
      chmodSync(folder.join(file), 0o600);
    }
  });

  it('checks the limit of open files of the service that is running', async () => {
    const limited = ['-c', `ulimit -n 700; exec "${process.execPath}" "${PROGRAM}" serve`];
    using served = new Folder();
    const env = { PORT: '0', LOG_LEVEL: 'info' };
    await using service = new Program(served, limited, { command: '/bin/sh', env });
    await service.says(/"msg":"listening"/);
    const exit = await doctor(folder, {}, ['--pid', String(service.id)]);
    await assertFound('failed', 'open files', new RegExp(`^process ${service.id} may open 700 files`), exit);
    // 0 is the MainPID of a unit that systemd has stopped.
    for (const pid of ['2147483647', '0']) {
      const stopped = await doctor(folder, {}, ['--pid', pid]);
      await assertFound('failed', 'open files', new RegExp(`process ${pid} is not running`), stopped);
    }
    assert.equal((await doctor(folder, {}, ['--pid', 'self'])).code, 2);
  });

  it('reads the settings of a systemd unit', async () => {
    const file = folder.join('environment');
    const lines = [
      '# comment',
      '; comment',
      '',
      'LOG_LEVEL=debug',
      'UGS_MAX_CONNECTIONS="300"',
      "HOST='a#b'",
    ];
    writeFileSync(file, lines.join('\n'));
    const env = { LOG_LEVEL: 'info' };
    const [settings] = checksOf(await doctor(folder, { env }, ['--environment-file', file]));
    for (const name of ['HOST', 'LOG_LEVEL', 'UGS_MAX_CONNECTIONS'])
      assert.ok(settings!.message.includes(name), settings!.message);
    writeFileSync(file, 'PORT=99999\n');
    const invalid = await doctor(folder, {}, ['--environment-file', file]);
    await assertFound('failed', 'settings', /^PORT must be/, invalid);
    writeFileSync(file, 'LOG_LEVEL=debug\nsecret-without-a-name\n');
    const exit = await doctor(folder, {}, ['--environment-file', file]);
    assert.equal(exit.code, 2);
    assert.match(exit.stderr, /line 2 of .*environment is not NAME=VALUE/);
    assert.doesNotMatch(exit.stderr, /secret-without/);
    assert.equal((await doctor(folder, {}, ['--environment-file', 'missing'])).code, 2);
  });

  it('reads quotes, backslashes and continued lines as systemd does', () => {
    const file = folder.join('environment');
    const read = (text: string) => {
      writeFileSync(file, text);
      return readEnvironmentFile(file);
    };
    for (const [text, value] of [
      ['a \\\n  b  \n', 'a   b'],
      ['a"b"#c\\d\\ \r\n', 'a"b"#cd '],
      ['"a\\\n\\"\\n" \'b\nc\\\'d', 'a"\\nb\nc\\d'],
      ['', ''],
    ])
      assert.deepEqual(read(`\n # \n FIRST = ${text}\nNEXT=1`), { FIRST: value, NEXT: '1' });
    assert.throws(() => read('A=1\\\n2\nexport B=1\n'), /line 3 of /);
    assert.throws(() => read('A=1\nB= "2" "3\nC=4\n'), /line 2 of /);
  });

  it('reports a limit of open files that is too low', async () => {
    for (const [limit, status] of [
      [5_000, 'warning'],
      [500, 'failed'],
    ] as const) {
      const script = `ulimit -n ${limit}; exec "${process.execPath}" "${PROGRAM}" doctor --json`;
      await using program = new Program(folder, ['-c', script], { command: 'bash' });
      await assertFound(
        status,
        'open files',
        new RegExp(`${limit} files; .* needs 10100`),
        await program.exit(),
      );
    }
  });

  it('prints what to do, and how many checks failed', async () => {
    chmodSync(folder.join('data/token-keys'), 0o644);
    const { code, stdout, stderr } = await run(folder, ['doctor']);
    chmodSync(folder.join('data/token-keys'), 0o600);
    assert.equal(code, 65);
    assert.match(stdout, /^failed +secret files .*token-keys\. What to do: run chmod 600 data\/token-keys/m);
    assert.equal(stderr, 'user-group-service: 1 of 10 checks failed\n');
  });

  describe('on a small disk', { skip: canMount() ? false : 'no file system may be mounted' }, () => {
    it('reports missing space, and a disk that is mounted read-only', async () => {
      using small = new Folder();
      using disk = new SmallDisk(small.join('data'), 64);
      await createApiToken(small);
      await assertFound('failed', 'disk space', /\d+ MB are free in data/, await doctor(small));
      disk.makeReadOnly();
      const exit = await doctor(small);
      assert.deepEqual(findings(exit), ['failed database', 'failed disk space']);
      assert.match(
        checksOf(exit).find(({ name }) => name === 'database')!.message,
        /read-?only|unable to open/,
      );
    });

    it('warns if less than a gigabyte is left', async () => {
      using small = new Folder();
      using _disk = new SmallDisk(small.join('data'), 512);
      await createApiToken(small);
      await assertFound('warning', 'disk space', /MB are free/, await doctor(small));
    });
  });
});

describe('doctor on PostgreSQL', () => {
  const folder = Folder.of();
  const database = databaseOf(postgres);
  before(async () => {
    await createApiToken(folder, [], database);
    await importGroup(folder, database);
  });

  /** Runs doctor with changes to the database URL, such as `options`. */
  function doctorAt(change: (url: URL) => void): Promise<Exit> {
    const url = new URL(database.url);
    change(url);
    return doctor(folder, { env: { ...database.env, DATABASE_URL: url.href } });
  }

  const withOptions = (options: string) => doctorAt((url) => url.searchParams.set('options', options));

  it('finds nothing wrong with a working database', async () => {
    const exit = await run(folder, ['doctor', '--json'], database);
    assert.deepEqual(findings(exit), [], exit.stdout);
    assert.equal(exit.code, 0);
    const { status, message } = checksOf(exit).find(({ name }) => name === 'clock')!;
    assert.equal(status, 'ok');
    assert.match(message, /0\.\d s/);
  });

  it('reports a server that is down, and a wrong database name', async () => {
    const down = await doctorAt((url) => {
      url.port = '1';
    });
    await assertFound('failed', 'database', /ECONNREFUSED/, down);
    const wrong = await doctorAt((url) => {
      url.pathname = '/nowhere';
    });
    await assertFound('failed', 'database', /"nowhere" does not exist/, wrong);
  });

  it('reports a database that is not migrated, and does not migrate it', async () => {
    await using empty = await postgres.create();
    const exit = await doctor(folder, empty);
    await assertFound('warning', 'schema', /\d migrations are pending, from 0001/, exit);
    assert.deepEqual(await runSql(empty, "select 1 from pg_tables where schemaname = 'public'"), []);
  });

  it('reports a database of another application, and a schema that does not exist', async () => {
    await using other = await postgres.create();
    await runSql(other, 'create table schema_migrations (version text)');
    await assertFound('failed', 'database', /tables of another application/, await doctor(folder, other));
    await runSql(other, 'drop table schema_migrations; create table events (id integer)');
    await assertFound('failed', 'database', /tables of another application/, await doctor(folder, other));
    await assertFound('failed', 'database', /search_path/, await withOptions('-c search_path=nowhere'));
  });

  it('reports each index that a partial restore has not created, and a table that was renamed', async () => {
    const relations = await runSql(
      database,
      "select relname from pg_class where relnamespace = 'public'::regnamespace",
    );
    assert.deepEqual(relations.map(({ relname }) => String(relname)).sort(), createdRelations());
    for (const table of createdTables()) {
      await runSql(database, `alter table ${table} rename to renamed`);
      const exit = await doctor(folder, database);
      await assertFound('failed', 'schema', new RegExp(`lacks 1 table or index: ${table}$`), exit);
      assert.ok(!checksOf(exit).some(({ name }) => name === 'privileges'), table);
      await runSql(database, `alter table renamed rename to ${table}`);
    }
    await runSql(database, 'drop index user_groups_bucket_token_digest');
    await runSql(database, 'alter table imported_tokens drop constraint imported_tokens_pkey');
    await assertFound(
      'failed',
      'schema',
      /lacks 2 tables or indexes: imported_tokens_pkey, user_groups_bucket_token_digest$/,
      await doctor(folder, database),
    );
    await runSql(database, 'alter table imported_tokens add primary key (token_digest)');
    await runSql(
      database,
      'create unique index user_groups_bucket_token_digest on user_groups (bucket, token_digest)',
    );
  });

  it('reports that ids would be issued again', async () => {
    await runSql(database, 'update id_blocks set next = -next');
    const exit = await doctor(folder, database);
    await assertFound('failed', 'database', /^the table id_blocks is older than others/, exit);
    await runSql(database, 'update id_blocks set next = -next');
  });

  it('does not blame the schema or the keys if the database does not respond', async () => {
    const other = await SqlConnection.open(database.url);
    try {
      await other.query('begin; lock table schema_migrations, token_keys');
      const failed = checksOf(await doctor(folder, database)).filter(({ status }) => status === 'failed');
      assert.deepEqual(
        failed.map(({ name }) => name),
        ['schema', 'keys', 'clock'],
      );
      for (const { message, remedy } of failed) {
        assert.equal(message, 'PostgreSQL: Query read timeout');
        assert.match(remedy!, /^see the reasons under "Log messages"/);
      }
    } finally {
      await other.end();
    }
  });

  it('reports a forgotten session that has locked the user groups, without waiting for its end', async () => {
    await using other = await SqlConnection.open(database.url);
    await other.query('begin; lock table user_groups');
    const exit = await doctor(folder, database);
    await assertFound('failed', 'keys', /canceling statement due to lock timeout/, exit);
    assert.equal(checksOf(exit).find(({ name }) => name === 'clock')!.status, 'ok');
  });

  it('reports a schema of a newer version', async () => {
    await runSql(database, "insert into schema_migrations values (999, 'future', 0)");
    await assertFound('failed', 'schema', /newer than this version/, await doctor(folder, database));
    await runSql(database, 'delete from schema_migrations where number = 999');
  });

  it('reports read-only transactions, commits that are not durable, and a table that a crash empties', async () => {
    const readOnly = await withOptions('-c default_transaction_read_only=on');
    assert.equal(readOnly.code, 65);
    assert.match(readOnly.stdout, /read-only/);
    const risky = await withOptions('-c synchronous_commit=off');
    await assertFound('warning', 'durability', /synchronous_commit = off/, risky);
    await runSql(database, 'alter table user_groups set unlogged');
    const unlogged = await doctor(folder, database);
    await assertFound('warning', 'durability', /the table user_groups is unlogged/, unlogged);
    await runSql(database, 'alter table user_groups set logged');
  });

  it('reports each table on which a privilege is missing', async () => {
    const role = `doctor_${randomBytes(8).toString('hex')}`;
    const owner = await SqlConnection.open(database.url);
    try {
      await owner.query(`create role ${role} login password '${role}';
        grant select, insert, update, delete on all tables in schema public to ${role};
        grant maintain on user_groups to ${role}; revoke delete, insert on user_groups from ${role}`);
      const asRole = () =>
        doctorAt((url) => {
          url.username = role;
          url.password = role;
        });
      const exit = await asRole();
      await assertFound('failed', 'privileges', /lacks the privileges delete, insert on user_groups$/, exit);
      await owner.query(
        `grant delete, insert on user_groups to ${role}; revoke maintain on user_groups from ${role}`,
      );
      await assertFound('warning', 'privileges', /cannot gather statistics/, await asRole());
      await owner.query(`grant maintain on user_groups to ${role};
        alter table user_groups enable row level security; create policy mine on user_groups to postgres using (true)`);
      await assertFound(
        'failed',
        'privileges',
        /row-level security hides all rows of user_groups/,
        await asRole(),
      );
      await owner.query(`alter policy mine on user_groups to public`);
      assert.deepEqual(findings(await asRole()), []);
    } finally {
      await owner.query('alter table user_groups disable row level security');
      await owner.query(`drop owned by ${role}; drop role ${role}`);
      await owner.end();
    }
  });

  it('reports transactions that hold up the feed of events, but none that only read', async () => {
    // A function of this name on the search path stands in for the time an hour later.
    await runSql(database, 'create schema later');
    await runSql(
      database,
      `create function later.now() returns timestamptz language sql as $$ select pg_catalog.now() + interval '1 hour' $$`,
    );
    const role = `feed_${randomBytes(8).toString('hex')}`;
    const prepared = `feed ${randomBytes(8).toString('hex')}`;
    const warnings = async (change: (url: URL) => void = () => {}) =>
      checksOf(
        await doctorAt((url) => {
          url.searchParams.set('options', '-c search_path=public,later,pg_catalog');
          change(url);
        }),
      )
        .filter(({ name, status }) => name === 'event feed' && status === 'warning')
        .map(({ message, remedy }) => `${message}. ${remedy}`)
        .join('\n');
    await using writer = await SqlConnection.open(database.url);
    await using reader = await SqlConnection.open(database.url);
    const pids = await Promise.all(
      [writer, reader].map(
        async (client) => (await client.query('select pg_backend_pid() as pid')).rows[0].pid,
      ),
    );
    await writer.query(`create role ${role} login password '${role}'`);
    try {
      await writer.query(`begin; select pg_current_xact_id(); prepare transaction '${prepared}'`);
      await writer.query('begin; select pg_current_xact_id()');
      await reader.query('begin isolation level repeatable read; select 1 from user_groups');
      const found = await warnings();
      assert.match(
        found,
        new RegExp(`feed of events for 60 min: session ${pids[0]} of .*pg_terminate_backend\\(${pids[0]}\\)`),
      );
      assert.match(
        found,
        new RegExp(`: prepared transaction '${prepared}' of .*rollback prepared '${prepared}'`),
      );
      assert.doesNotMatch(found, new RegExp(`session ${pids[1]} `));
      const asRole = await warnings((url) => Object.assign(url, { username: role, password: role }));
      assert.match(asRole, new RegExp(`events now, for a time .* pg_read_all_stats .*session ${pids[0]} of`));
      await writer.query('rollback');
      assert.doesNotMatch(await warnings(), new RegExp(`session ${pids[0]} `));
    } finally {
      await writer.query('rollback');
      await writer.query(`rollback prepared '${prepared}'`);
      await writer.query(`drop role ${role}`);
    }
  });

  it('reports a key ring that is missing, or lacks a key in use', async () => {
    const missing = await doctor(folder, { env: { DATABASE_URL: database.url } });
    await assertFound('failed', 'keys', /UGS_TOKEN_KEYS is not set/, missing);
    const env = { ...database.env, UGS_TOKEN_KEYS: generateKeyLine().reveal() };
    await assertFound('failed', 'keys', /lacks the token key/, await doctor(folder, { env }));
  });

  it('reports a token that does not decrypt', async () => {
    await runSql(database, 'update user_groups set team_id = team_id + 1000');
    await assertFound('failed', 'keys', /user group "one"/, await doctor(folder, database));
    await runSql(database, 'update user_groups set team_id = team_id - 1000');
  });

  it('reports a clock that differs from that of the server', async () => {
    // A function of this name on the search path stands in for a server whose clock is wrong.
    await runSql(database, 'create schema shifted');
    const offsets = { "interval '3 s'": 'warning', "interval '-30 s'": 'failed' } as const;
    for (const [offset, status] of Object.entries(offsets) as [string, 'warning' | 'failed'][]) {
      await runSql(
        database,
        `create or replace function shifted.clock_timestamp() returns timestamptz language sql
          as $$ select pg_catalog.clock_timestamp() + ${offset} $$`,
      );
      const exit = await withOptions('-c search_path=public,shifted,pg_catalog');
      await assertFound(status, 'clock', /clock of this machine is \d+\.\d s (?:behind|ahead of)/, exit);
    }
  });
});
