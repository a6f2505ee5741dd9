// The settings of `serve`: where they come from, and that a bad one stops the start with one clear line.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { type Setting, settings } from '../../src/config.ts';
import { createApiToken, Folder, Program, run, type Service, serve } from '../process.ts';

const ONE_LINE = /^user-group-service: [^\n]+\n$/;
const REFUSAL_LIMIT_MS = 10_000;

/** A value that each setting refuses; null for one whose bad values only show when the service listens. */
const badValues = {
  databaseUrl: 'mysql://db/groups',
  host: null,
  port: '65536',
  logLevel: 'loud',
  logFormat: 'xml',
  tokenKeys: 'deadbeef:tooshort',
  databaseWaitMs: '3600001',
  postgresPoolSize: '0',
  postgresConnectTimeoutMs: '9',
  postgresStatementTimeoutMs: '-1',
  postgresPreparedStatements: 'true',
  defaultGracePeriodSeconds: '2592001',
  allowedOrigins: 'https://app.example.com/path',
  rateLimitPerMinute: ' 1',
  queueLimit: '0',
  maxConnections: '1e3',
  headersTimeoutMs: '99',
  requestTimeoutMs: '30s',
  answerTimeoutMs: '99',
  keepAliveTimeoutMs: '0',
  shutdownDelayMs: '0.5',
  shutdownTimeoutMs: '600001',
} satisfies Record<keyof typeof settings, string | null>;

/** The least and the greatest of each number, but for the port. */
const numberBounds = {
  databaseWaitMs: ['0', '3600000'],
  postgresPoolSize: ['1', '1000'],
  postgresConnectTimeoutMs: ['10', '600000'],
  postgresStatementTimeoutMs: ['0', '600000'],
  defaultGracePeriodSeconds: ['0', '2592000'],
  rateLimitPerMinute: ['0', '100000000'],
  queueLimit: ['1', '1000000'],
  maxConnections: ['1', '1000000'],
  headersTimeoutMs: ['100', '600000'],
  requestTimeoutMs: ['100', '600000'],
  answerTimeoutMs: ['100', '600000'],
  keepAliveTimeoutMs: ['1', '3600000'],
  shutdownDelayMs: ['0', '600000'],
  shutdownTimeoutMs: ['0', '600000'],
} satisfies Partial<Record<keyof typeof settings, [least: string, greatest: string]>>;

interface Refused {
  args?: string[];
  env?: Record<string, string>;
  /** What the line has to name. */
  names: RegExp;
  /** What the line must not show. */
  hides?: RegExp;
}

async function assertRefused({ args = [], env = {}, names, hides }: Refused): Promise<void> {
  using folder = new Folder();
  await using program = new Program(folder, ['serve', ...args], { env });
  const { code, stdout, stderr } = await program.exit(REFUSAL_LIMIT_MS);
  assert.match(stderr, ONE_LINE);
  assert.match(stderr, names);
  if (hides !== undefined) assert.doesNotMatch(stderr, hides);
  assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
}

describe('A setting that is not right ends serve with 78 and one line', { concurrency: 2 }, () => {
  for (const [key, bad] of Object.entries(badValues) as [keyof typeof settings, string | null][]) {
    if (bad === null) continue;
    const { env, flag }: Setting<unknown> = settings[key];
    it(`that names ${env}, where it is "${bad}"`, () =>
      assertRefused({ env: { [env]: bad }, names: new RegExp(`: ${env}:? `) }));
    const name = flag?.split(' ')[0];
    if (name === undefined) continue;
    it(`that names ${name}, where it is "${bad}"`, () =>
      assertRefused({ args: [name, bad], names: new RegExp(`: ${name} `) }));
  }

  for (const HOST of ['192.0.2.1', 'nowhere.invalid', 'x86_64-conda-linux-gnu']) {
    it(`that names the address and its setting, where the machine does not have it: ${HOST}`, () =>
      assertRefused({ env: { HOST }, names: new RegExp(`${HOST}.* --host or HOST`) }));
  }

  it('that suggests the setting that an unknown UGS_ variable is nearest to', () =>
    assertRefused({ env: { UGS_TOKN_KEYS: '1' }, names: /UGS_TOKN_KEYS is no setting .*UGS_TOKEN_KEYS\?/ }));

  it('that lists the settings, where an unknown UGS_ variable is near to none', () =>
    assertRefused({ env: { UGS_Z: '' }, names: /UGS_Z .*UGS_QUEUE_LIMIT/ }));

  it('where a setting that is no secret is to come from a file', () =>
    assertRefused({ env: { UGS_LOG_FORMAT_FILE: 'log-format' }, names: /UGS_LOG_FORMAT_FILE/ }));

  for (const name of ['UGS_TOKEN_KEYS', 'DATABASE_URL']) {
    it(`where ${name} and its file are both set`, () =>
      assertRefused({
        env: { [name]: 'a', [`${name}_FILE`]: 'b' },
        names: new RegExp(`${name} and ${name}_FILE`),
      }));

    it(`where the file of ${name} is missing`, () =>
      assertRefused({ env: { [`${name}_FILE`]: 'nowhere' }, names: new RegExp(`${name}_FILE`) }));

    it(`where the file of ${name} is empty`, () =>
      assertRefused({ env: { [`${name}_FILE`]: '/dev/null' }, names: new RegExp(name) }));
  }

  it('where --host is empty, which would listen on every address', () =>
    assertRefused({ args: ['--host', ''], names: /--host/ }));

  for (const url of ['postgres://user:hunter2@db/groups', 'sqlite:groups.db?password=hunter2']) {
    it(`where --database-url holds a password, without showing it: ${url}`, () =>
      assertRefused({ args: ['--database-url', url], names: /--database-url/, hides: /hunter2/ }));
  }

  for (const password of ['hidden#1', '12#hidden', '12/hidden', 'hidden?1']) {
    it(`where DATABASE_URL has a password that is not encoded: ${password}`, () =>
      assertRefused({
        env: { DATABASE_URL: `postgres://u:${password}@127.0.0.1:1/d` },
        names: /DATABASE_URL .*%2F/,
        hides: /hidden/,
      }));
  }

  const overTls: Record<string, string> = {
    'where DATABASE_URL has an sslmode that is none, which would ask in plain': 'sslmode=verify_full',
    'where DATABASE_URL has an ssl that is none': 'ssl=false',
    'where DATABASE_URL has an sslnegotiation that is none': 'sslmode=verify-full&sslnegotiation=none',
    'where DATABASE_URL names a certificate that is not there': 'sslmode=verify-full&sslrootcert=none.crt',
  };
  for (const [what, parameters] of Object.entries(overTls)) {
    it(what, () => {
      const env = { DATABASE_URL: `postgres://u:hidden@127.0.0.1:1/d?${parameters}` };
      return assertRefused({
        env,
        names: /DATABASE_URL .*(sslmode|ssl |sslnegotiation|sslrootcert)/,
        hides: /hidden/,
      });
    });
  }

  for (const parameter of ['statement_timeout', 'lock_timeout', 'query_timeout']) {
    it(`where DATABASE_URL has ${parameter}, which would take the place of UGS_POSTGRES_STATEMENT_TIMEOUT_MS`, () =>
      assertRefused({
        env: { DATABASE_URL: `postgres://u:hidden@127.0.0.1:1/d?${parameter}=0` },
        names: new RegExp(`DATABASE_URL .*${parameter}.*UGS_POSTGRES_STATEMENT_TIMEOUT_MS`),
        hides: /hidden/,
      }));
  }

  it('that does not show the password of a DATABASE_URL that is not right', () =>
    assertRefused({
      env: { DATABASE_URL: 'mysql://user:hunter2@db/groups' },
      names: /DATABASE_URL/,
      hides: /hunter2/,
    }));

  const key = 'A'.repeat(43);
  for (const ring of [`deadbeef:${key}`, `deadbeef-${key}`, key, `deadbeef:${key}A`]) {
    it(`that does not show the key of a damaged ring: ${ring}`, () =>
      assertRefused({ env: { UGS_TOKEN_KEYS: ring }, names: /UGS_TOKEN_KEYS/, hides: /A{10}/ }));
  }
});

describe('A flag of serve that is not right', () => {
  for (const args of [['--prot', '80'], ['--token-keys', 'x'], ['--port'], ['extra']]) {
    it(`ends it with 2: ${args.join(' ')}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await run(folder, ['serve', ...args]);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^error: /);
    });
  }
});

describe('A database that cannot be opened ends serve with 69 and one line', () => {
  it('where no PostgreSQL server answers, without showing the password', () =>
    assertUnavailable('postgres://user:hunter2@127.0.0.1:1/groups'));
  it('where its directory cannot be made', () => assertUnavailable('sqlite:file/groups.db'));
  it('where it is a directory', () => assertUnavailable('sqlite:directory'));
  it('where it is a file of another kind', () => assertUnavailable('sqlite:file'));

  async function assertUnavailable(url: string): Promise<void> {
    using folder = new Folder();
    mkdirSync(folder.join('directory'));
    writeFileSync(folder.join('file'), 'This is no database. '.repeat(100));
    const env = { DATABASE_URL: url, UGS_DATABASE_WAIT_MS: '0' };
    await using program = new Program(folder, ['serve'], { env });
    const { code, stdout, stderr } = await program.exit(REFUSAL_LIMIT_MS);
    assert.match(stderr, ONE_LINE);
    assert.doesNotMatch(stderr, /hunter2/);
    assert.deepEqual({ code, stdout }, { code: 69, stdout: '' });
  }
});

describe('serve', () => {
  it('keeps a SQLite database in data/ where nothing says otherwise', async () => {
    using folder = new Folder();
    await using _service = await serve(folder);
    assert.ok(existsSync(folder.join('data/user-groups.db')));
  });

  it('takes settings from the environment, and flags before it', async () => {
    using folder = new Folder();
    const env = { DATABASE_URL: 'sqlite:from-env.db', LOG_LEVEL: 'debug', HOST: '192.0.2.1' };
    await using service = await serve(folder, { env, args: ['--host', '127.0.0.1'] });
    assert.ok(existsSync(folder.join('from-env.db')));
    await service.send({ path: '/healthz', token: null });
    await service.says(/"path":"\/healthz"/);
  });

  it('takes a flag of every kind before its variable', async () => {
    using folder = new Folder();
    const env = { DATABASE_URL: 'sqlite:env.db', LOG_LEVEL: 'silent', UGS_RATE_LIMIT_PER_MINUTE: '9' };
    const args = ['--database-url', 'sqlite:flag.db', '--log-level', 'info', '--rate-limit-per-minute', '2'];
    await using service = await serve(folder, { env, args });
    assert.deepEqual([existsSync(folder.join('flag.db')), existsSync(folder.join('env.db'))], [true, false]);
    const { token } = await createApiToken(folder, ['--database-url', 'sqlite:flag.db']);
    const statuses = [];
    for (let call = 0; call < 3; call++)
      statuses.push((await service.call(token, 'GET', '/api/user', { user_group_id: 'none' })).status);
    assert.deepEqual(statuses, [404, 404, 429]);
  });

  for (const [index, which] of ['least', 'greatest'].entries()) {
    it(`serves with every number at its ${which}`, async () => {
      using folder = new Folder();
      const { token } = await createApiToken(folder);
      const bounds = Object.entries(numberBounds) as [keyof typeof settings, [string, string]][];
      const env = Object.fromEntries(bounds.map(([key, values]) => [settings[key].env, values[index]!]));
      await using service = await serve(folder, { env });
      const body = { user_group_id: 'one', name: 'One' };
      assert.equal((await service.call(token, 'GET', '/api/user', body)).status, 200);
    });
  }

  it('takes an empty variable as one that is not set', async () => {
    using folder = new Folder();
    const env = {
      HOST: '',
      LOG_LEVEL: '',
      UGS_TOKEN_KEYS: '',
      UGS_TOKEN_KEYS_FILE: '',
      DATABASE_URL_FILE: '',
    };
    await using service = await serve(folder, { env });
    assert.match(service.url, /^http:\/\/127\.0\.0\.1:/);
  });

  it('serves where the headers of a request may take longer than all of it', async () => {
    using folder = new Folder();
    await using service = await serve(folder, { env: { UGS_HEADERS_TIMEOUT_MS: '600000' } });
    assert.equal((await service.send({ path: '/readyz', token: null })).status, 200);
  });

  it('takes secrets from files', async () => {
    using folder = new Folder();
    const ring = (await run(folder, ['key', 'generate'])).stdout;
    writeFileSync(folder.join('ring'), ring);
    writeFileSync(folder.join('url'), 'sqlite:from-file.db\n');
    await using _service = await serve(folder, {
      env: { UGS_TOKEN_KEYS_FILE: 'ring', DATABASE_URL_FILE: 'url' },
    });
    assert.ok(existsSync(folder.join('from-file.db')));
    assert.equal(existsSync(folder.join('token-keys')), false);
  });

  it('listens on 127.0.0.1 alone unless it is told', async () => {
    using folder = new Folder();
    await using service = await serve(folder);
    assert.match(service.url, /^http:\/\/127\.0\.0\.1:/);
    assert.equal(await answers(service, '127.0.0.2'), false);
  });

  it('listens where --host says', async () => {
    using folder = new Folder();
    await using service = await serve(folder, { args: ['--host', '127.0.0.2'] });
    assert.equal(await answers(service, '127.0.0.2'), true);
    assert.equal(await answers(service, '127.0.0.1'), false);
  });
});

function answers({ url }: Service, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(new URL(url).port) });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
