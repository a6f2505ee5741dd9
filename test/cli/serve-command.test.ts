// Settings of `serve`: where they come from. An invalid one prevents the start, with one clear line.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { readConfig, type Setting, settings } from '../../src/config.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import {
  createApiToken,
  type Exit,
  eventually,
  Folder,
  PATIENT,
  PROGRAM,
  Program,
  runHosted,
  type Service,
  serve,
} from '../support/process.ts';
import { serveHere } from '../support/service.ts';

const ONE_LINE = /^user-group-service: [^\n]+\n$/;
/** Shorter than the wait of a process that retries, or hangs, even on a busy machine. */
const REFUSAL_LIMIT_MS = 50_000;
/** Limits the wait for a name server that does not answer. */
const RES_OPTIONS = 'timeout:1 attempts:1';

/** Invalid value of each setting; null if only listening detects an invalid value. */
const invalidValues = {
  databaseUrl: 'mysql://db/groups',
  host: null,
  port: '65536',
  logLevel: 'loud',
  logFormat: 'xml',
  accessLog: 'yes',
  tokenKeys: 'deadbeef:tooshort',
  databaseWaitMs: '3600001',
  postgresPoolSize: '0',
  postgresConnectTimeoutMs: '9',
  postgresStatementTimeoutMs: '-1',
  postgresPreparedStatements: 'true',
  bootstrapApiToken: 'uga_short',
  bootstrapWorkspace: ' ',
  bootstrapEnvironment: 'customer',
  defaultGracePeriodSeconds: '2592001',
  eventRetentionDays: '-1',
  eventMebibytesPerDay: '-1',
  webhookAllowPrivate: 'yes',
  publicUrl: 'ftp://groups.example.com',
  allowedOrigins: 'https://app.example.com/path',
  rateLimitPerMinute: ' 1',
  failedAuthenticationLimitPerMinute: '-1',
  threads: '17',
  queueLimit: '0',
  metricsAddress: '9464',
  trustedProxies: 'proxy.example.com',
  maxConnections: '1e3',
  headersTimeoutMs: '99',
  requestTimeoutMs: '30s',
  answerTimeoutMs: '99',
  keepAliveTimeoutMs: '0',
  shutdownDelayMs: '0.5',
  shutdownTimeoutMs: '600001',
} satisfies Record<keyof typeof settings, string | null>;

type NumberKey = {
  [Key in keyof typeof settings]: ReturnType<(typeof settings)[Key]['parse']> extends number ? Key : never;
}[keyof typeof settings];

/** Minimum and maximum of each number, except for the port. */
const numberBounds = {
  threads: ['1', '16'],
  databaseWaitMs: ['0', '3600000'],
  postgresPoolSize: ['1', '1000'],
  postgresConnectTimeoutMs: ['10', '600000'],
  postgresStatementTimeoutMs: ['0', '600000'],
  defaultGracePeriodSeconds: ['0', '2592000'],
  eventRetentionDays: ['0', '3650'],
  eventMebibytesPerDay: ['0', '1000000'],
  rateLimitPerMinute: ['0', '100000000'],
  failedAuthenticationLimitPerMinute: ['0', '100000000'],
  queueLimit: ['1', '1000000'],
  maxConnections: ['1', '1000000'],
  headersTimeoutMs: ['100', '600000'],
  requestTimeoutMs: ['100', '600000'],
  answerTimeoutMs: ['100', '600000'],
  keepAliveTimeoutMs: ['1', '3600000'],
  shutdownDelayMs: ['0', '600000'],
  shutdownTimeoutMs: ['0', '600000'],
} satisfies Record<Exclude<NumberKey, 'port'>, [min: string, max: string]>;

interface Refused {
  prepare?: (folder: Folder) => void;
  /** Shell script that runs `"$0" "$@"`. */
  script?: string;
  args?: string[];
  env?: Record<string, string>;
  /** Pattern that the line must match. */
  names: RegExp;
  /** Pattern that the line must not match. */
  hides?: RegExp;
}

/** Runs `serve` in the shared command process: the setting is refused before anything is opened. */
async function assertSettingRefused({ args = [], env = {}, prepare, ...expected }: Refused): Promise<void> {
  using folder = new Folder();
  prepare?.(folder);
  assertExit(await runHosted(folder, ['serve', ...args], { env }), expected);
}

async function assertRefused({ args = [], env = {}, prepare, script, ...expected }: Refused): Promise<void> {
  using folder = new Folder();
  prepare?.(folder);
  await using program =
    script === undefined
      ? new Program(folder, ['serve', ...args], { env })
      : new Program(folder, ['-c', script, process.execPath, PROGRAM, 'serve', ...args], {
          env,
          command: 'sh',
        });
  assertExit(await program.exit(REFUSAL_LIMIT_MS), expected);
}

function assertExit(
  { code, stdout, stderr }: Exit,
  { names, hides }: Pick<Refused, 'names' | 'hides'>,
): void {
  assert.match(stderr, ONE_LINE);
  assert.match(stderr, names);
  if (hides !== undefined) assert.doesNotMatch(stderr, hides);
  assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
}

describe('An invalid setting makes serve exit with 78 and one line', { concurrency: 2 }, () => {
  for (const [key, invalid] of Object.entries(invalidValues) as [keyof typeof settings, string | null][]) {
    if (invalid === null) continue;
    const { env, flag }: Setting<unknown> = settings[key];
    it(`that names ${env} if it is "${invalid}"`, () =>
      assertSettingRefused({ env: { [env]: invalid }, names: new RegExp(`: ${env}:? `) }));
    const name = flag?.split(' ')[0];
    if (name === undefined) continue;
    it(`that names ${name} if it is "${invalid}"`, () =>
      assertSettingRefused({ args: [name, invalid], names: new RegExp(`: ${name} `) }));
  }

  for (const HOST of ['192.0.2.1', 'nowhere.invalid', 'x86_64-conda-linux-gnu']) {
    it(`that names the address and its setting if the machine does not have the address: ${HOST}`, () =>
      assertRefused({ env: { HOST, RES_OPTIONS }, names: new RegExp(`${HOST}.* --host or HOST`) }));
  }

  it('that lists auto among the values of UGS_THREADS', () =>
    assertSettingRefused({ env: { UGS_THREADS: '0' }, names: /UGS_THREADS must be .* 1 to 16, or auto$/m }));

  for (const HOST of ['[::1]', '127.0.0.1:8080', '::1:x', 'http://127.0.0.1'])
    it(`that says how an address is written if HOST is ${HOST}`, () =>
      assertSettingRefused({
        env: { HOST },
        names: /HOST must be an address, .* without brackets and port$/m,
      }));

  for (const [variable, value] of [
    ['PORT', '8080\r'],
    ['HOST', '127.0.0.1\t'],
    ['DATABASE_URL', 'sqlite:groups.db '],
    ['DATABASE_URL', 'sqlite:groups.db\r'],
    ['UGS_PUBLIC_URL', 'https://groups.example.com '],
    ['UGS_METRICS_ADDRESS', ' 127.0.0.1:9464'],
  ] as const)
    it(`that names white space at an end of ${variable}: ${JSON.stringify(value)}`, () =>
      assertSettingRefused({
        env: { [variable]: value },
        names: new RegExp(`${variable} must be .*: its value starts or ends with white space`),
      }));

  for (const path of ['groups.db?mode=rw', '~/groups.db', '$HOME/groups.db', '"my groups.db"'])
    it(`if DATABASE_URL would name a new database: sqlite:${path}`, () =>
      assertSettingRefused({
        env: { DATABASE_URL: `sqlite:${path}` },
        names: /DATABASE_URL must be sqlite:PATH, .* without parameters, quotes, "~" and "\$"/,
      }));

  for (const value of ['"8080"', "'8080'"])
    it(`that names the quotes around ${value}`, () =>
      assertSettingRefused({ env: { PORT: value }, names: /PORT must be .*: its value is in quotes/ }));

  for (const UGS_PUBLIC_URL of [
    'https:groups.example.com',
    'https://groups.exa\tmple.com',
    'https://groups.example.com/?',
    'https://groups.example.com#',
  ])
    it(`if the parser of URLs would correct UGS_PUBLIC_URL: ${JSON.stringify(UGS_PUBLIC_URL)}`, () =>
      assertSettingRefused({
        env: { UGS_PUBLIC_URL },
        names: /UGS_PUBLIC_URL must be an http or https URL/,
      }));

  for (const [HOST, UGS_METRICS_ADDRESS] of [
    ['127.0.0.1', '127.0.0.1:8080'],
    ['0.0.0.0', '127.0.0.1:8080'],
    ['127.0.0.1', '[::]:8080'],
  ] as const)
    it(`if UGS_METRICS_ADDRESS is ${UGS_METRICS_ADDRESS}, which is also an address of HOST ${HOST}`, () =>
      assertSettingRefused({
        env: { HOST, PORT: '8080', UGS_METRICS_ADDRESS },
        names: /UGS_METRICS_ADDRESS must have another port than PORT/,
      }));

  it('that suggests the setting most similar to an unknown UGS_ variable', () =>
    assertRefused({
      env: { UGS_TOKN_KEYS: '1' },
      names: /UGS_TOKN_KEYS is not a setting .*UGS_TOKEN_KEYS\?/,
    }));

  it('that suggests the setting whose name lacks UGS_', () =>
    assertSettingRefused({
      env: { UGS_HOST: '::1' },
      names: /UGS_HOST is not a setting .*did you mean HOST\?/,
    }));

  it('that names the command that lists the settings if an unknown UGS_ variable is similar to none', async () => {
    await assertSettingRefused({ env: { UGS_Z: '' }, names: /UGS_Z is not a setting .*"serve --help"/ });
    using folder = new Folder();
    const { stdout } = await runHosted(folder, ['serve', '--help']);
    for (const { env } of Object.values(settings)) assert.ok(stdout.includes(env), env);
  });

  it('if a setting that is not a secret names a file', () =>
    assertSettingRefused({ env: { UGS_LOG_FORMAT_FILE: 'log-format' }, names: /UGS_LOG_FORMAT_FILE/ }));

  for (const name of ['UGS_TOKEN_KEYS', 'DATABASE_URL']) {
    it(`if ${name} and its file are both set`, () =>
      assertSettingRefused({
        env: { [name]: 'a', [`${name}_FILE`]: 'b' },
        names: new RegExp(`${name} and ${name}_FILE`),
      }));

    it(`if the file of ${name} does not exist`, () =>
      assertSettingRefused({ env: { [`${name}_FILE`]: 'nowhere' }, names: new RegExp(`${name}_FILE`) }));

    it(`if the file of ${name} is empty`, () =>
      assertSettingRefused({
        env: { [`${name}_FILE`]: 'empty' },
        prepare: (folder) => writeFileSync(folder.join('empty'), ''),
        names: new RegExp(`${name}_FILE names an empty file`),
      }));

    it(`if the file of ${name} is an endless device`, () =>
      assertSettingRefused({
        env: { [`${name}_FILE`]: '/dev/zero' },
        names: new RegExp(`${name}_FILE .*/dev/zero is neither a regular file nor a pipe`),
      }));

    it(`if the file of ${name} is a directory`, () =>
      assertSettingRefused({
        env: { [`${name}_FILE`]: '.' },
        names: new RegExp(`${name}_FILE .*is a directory`),
      }));

    it(`if the file of ${name} is too large`, () =>
      assertSettingRefused({
        env: { [`${name}_FILE`]: 'large' },
        prepare: (folder) => writeFileSync(folder.join('large'), 'a'.repeat(2 ** 20 + 1)),
        names: new RegExp(`${name}_FILE .*larger than 1048576 bytes`),
      }));

    it(`if the file of ${name} is an endless pipe`, () =>
      assertRefused({
        env: { [`${name}_FILE`]: '/dev/stdin' },
        script: 'yes | "$0" "$@"',
        names: new RegExp(`${name}_FILE .*larger than 1048576 bytes`),
      }));
  }

  it('if the key file next to the database is an endless device', () =>
    assertRefused({
      prepare: (folder) => {
        mkdirSync(folder.join('data'));
        symlinkSync('/dev/zero', folder.join('data/token-keys'));
      },
      names: /cannot read the key file: .*token-keys is neither a regular file nor a pipe/,
    }));

  it('if --host is empty, which would listen on all addresses', () =>
    assertSettingRefused({ args: ['--host', ''], names: /--host/ }));

  for (const url of ['postgres://user:hunter2@db/groups', 'sqlite:groups.db?password=hunter2']) {
    it(`that does not contain the password of --database-url: ${url}`, () =>
      assertSettingRefused({ args: ['--database-url', url], names: /--database-url/, hides: /hunter2/ }));
  }

  for (const password of ['hidden#1', '12#hidden', '12/hidden', 'hidden?1', 'hidden%ff']) {
    it(`if the password in DATABASE_URL is not percent-encoded: ${password}`, () =>
      assertSettingRefused({
        env: { DATABASE_URL: `postgres://u:${password}@127.0.0.1:1/d` },
        names: /DATABASE_URL .*%2F/,
        hides: /hidden/,
      }));
  }

  const overTls: Record<string, string> = {
    'if DATABASE_URL has an invalid sslmode, which would connect without TLS': 'sslmode=verify_full',
    'if DATABASE_URL has an invalid ssl': 'ssl=false',
    'if DATABASE_URL has an invalid sslnegotiation': 'sslmode=verify-full&sslnegotiation=none',
    'if DATABASE_URL misspells sslmode, which would connect without TLS': 'sslMode=verify-full',
    'if DATABASE_URL spells sslmode as for other databases': 'ssl-mode=REQUIRED',
    'if DATABASE_URL requires TLS by a name of other databases': 'tls=true',
    'if DATABASE_URL has a parameter of TLS that has no effect': 'sslmode=verify-full&sslcrl=revoked.pem',
    'if DATABASE_URL requires channel binding, which has no effect':
      'sslmode=require&channel_binding=require',
    'if DATABASE_URL requires encryption by GSSAPI, which has no effect': 'gssencmode=require',
    'if DATABASE_URL requires a way of authentication, which has no effect': 'require_auth=scram-sha-256',
    'if DATABASE_URL names an endless device as certificate': 'sslmode=verify-full&sslrootcert=/dev/zero',
    'if DATABASE_URL names a certificate that does not exist': 'sslmode=verify-full&sslrootcert=none.crt',
  };
  for (const [what, parameters] of Object.entries(overTls)) {
    it(what, () => {
      const env = { DATABASE_URL: `postgres://u:hidden@127.0.0.1:1/d?${parameters}` };
      return assertSettingRefused({
        env,
        names:
          /DATABASE_URL .*(?:sslmode|ssl |tls|sslcrl|sslnegotiation|sslrootcert|(?:channel_binding|gssencmode) to require, which has no effect|require_auth)/,
        hides: /hidden/,
      });
    });
  }

  for (const name of ['schema', 'currentSchema', 'search_path'])
    it(`if DATABASE_URL names a schema in ${name}, which has no effect`, () =>
      assertSettingRefused({
        env: { DATABASE_URL: `postgres://u:hidden@127.0.0.1:1/d?${name}=groups` },
        names: new RegExp(`DATABASE_URL must not set ${name}; use options=`),
        hides: /hidden/,
      }));

  it('if PGSSLMODE is invalid, which would connect without TLS, unless DATABASE_URL sets it', () => {
    const url = 'postgres://u:hidden@127.0.0.1:1/d?sslmode=disable';
    readConfig({ DATABASE_URL: url, PGSSLMODE: 'allow' });
    return assertSettingRefused({
      env: { DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/d', PGSSLMODE: 'verify_full' },
      names: /PGSSLMODE must be one of .*verify-full/,
      hides: /hidden/,
    });
  });

  it('if DATABASE_URL asks for a standby, with one host or several', async () => {
    for (const hosts of ['127.0.0.1:1', '127.0.0.1:1,127.0.0.1:2'])
      await assertSettingRefused({
        env: { DATABASE_URL: `postgres://u:hidden@${hosts}/d?target_session_attrs=any` },
        names: /DATABASE_URL must not set target_session_attrs to anything but read-write or primary/,
        hides: /hidden/,
      });
  });

  const timeouts = {
    statement_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
    lock_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
    query_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
    connect_timeout: 'UGS_POSTGRES_CONNECT_TIMEOUT_MS',
  };
  for (const [parameter, setting] of Object.entries(timeouts)) {
    it(`if DATABASE_URL has ${parameter}, instead of ${setting}`, () =>
      assertSettingRefused({
        env: { DATABASE_URL: `postgres://u:hidden@127.0.0.1:1/d?${parameter}=0` },
        names: new RegExp(`DATABASE_URL .*${parameter}.*${setting}`),
        hides: /hidden/,
      }));
  }

  it('that does not contain the password of an invalid DATABASE_URL', () =>
    assertRefused({
      env: { DATABASE_URL: 'mysql://user:hunter2@db/groups' },
      names: /DATABASE_URL/,
      hides: /hunter2/,
    }));

  const key = 'A'.repeat(43);
  for (const ring of [`deadbeef:${key}`, `deadbeef-${key}`, key, `deadbeef:${key}A`]) {
    it(`that does not contain the key of a damaged key ring: ${ring}`, () =>
      assertSettingRefused({ env: { UGS_TOKEN_KEYS: ring }, names: /UGS_TOKEN_KEYS/, hides: /A{10}/ }));
  }
});

describe('An invalid flag of serve', () => {
  for (const args of [['--prot', '80'], ['--token-keys', 'x'], ['--port'], ['extra']]) {
    it(`exits with 2: ${args.join(' ')}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await runHosted(folder, ['serve', ...args]);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^user-group-service: /);
    });
  }
});

describe('A database that cannot be opened makes serve exit with 69 and one line', () => {
  it('if the PostgreSQL server refuses the connection, without the password', () =>
    assertUnavailable(
      'postgres://user:hunter2@127.0.0.1:1/groups',
      /: connect ECONNREFUSED 127\.0\.0\.1:1; check the address, and that the server is running$/m,
    ));
  it('if the PostgreSQL server does not respond', async () => {
    await using server = await LoopbackServer.listen(createServer((socket) => socket.resume()));
    const { port } = server;
    await assertUnavailable(`postgres://user:hunter2@127.0.0.1:${port}/groups`, /: timeout expired; check /);
  });
  it('if the name of the PostgreSQL server is unknown', () =>
    assertUnavailable(
      'postgres://user:hunter2@name.invalid/groups',
      /ENOTFOUND name\.invalid; check /,
      PATIENT,
    ));
  it('if its directory cannot be created', () => assertUnavailable('sqlite:file/groups.db'));
  // Node's recursive mkdir never returns there.
  it('if its directory cannot be created because the file system has no new names', () =>
    assertUnavailable('sqlite:/proc/new/directory/groups.db'));
  it('if it is a directory', () => assertUnavailable('sqlite:directory'));
  it('if it is a file of another format', () =>
    assertUnavailable(
      'sqlite:file',
      /: file is not a database: if \S+\/file is another kind of file, name that of the database; otherwise restore a backup$/m,
    ));

  async function assertUnavailable(url: string, names = /: /, more = {}): Promise<void> {
    using folder = new Folder();
    mkdirSync(folder.join('directory'));
    writeFileSync(folder.join('file'), 'This is not a database. '.repeat(100));
    const env = { DATABASE_URL: url, UGS_DATABASE_WAIT_MS: '0', ...more };
    const startedAt = performance.now();
    const { code, stdout, stderr } = await runHosted(folder, ['serve'], { env });
    assert.match(stderr, ONE_LINE);
    assert.match(stderr, names);
    assert.doesNotMatch(stderr, /hunter2/);
    assert.deepEqual({ code, stdout }, { code: 69, stdout: '' });
    assert.ok(performance.now() - startedAt < REFUSAL_LIMIT_MS);
  }
});

describe('serve', () => {
  it('stores a SQLite database in data/ and listens only on 127.0.0.1 by default', async () => {
    using folder = new Folder();
    await using service = await serve(folder);
    assert.ok(existsSync(folder.join('data/user-groups.db')));
    assert.match(service.url, /^http:\/\/127\.0\.0\.1:/);
    assert.equal(await accepts(service, '127.0.0.2'), false);
  });

  it('reads settings from the environment; flags take precedence', async () => {
    using folder = new Folder();
    const env = { DATABASE_URL: 'sqlite:from-env.db', LOG_LEVEL: 'debug', HOST: '192.0.2.1' };
    await using service = await serve(folder, { env, args: ['--host', '127.0.0.1'] });
    assert.ok(existsSync(folder.join('from-env.db')));
    await service.send({ path: '/healthz', token: null });
    await service.says(/"path":"\/healthz"/);
  });

  it('prefers flags of every type to their environment variables', async () => {
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

  for (const [index, bound] of ['minimum', 'maximum'].entries()) {
    it(`serves with every number at its ${bound}`, async () => {
      using folder = new Folder();
      const { token } = await createApiToken(folder);
      const bounds = Object.entries(numberBounds) as [keyof typeof settings, [string, string]][];
      const env = Object.fromEntries(bounds.map(([key, values]) => [settings[key].env, values[index]!]));
      await using service = await serve(folder, { env });
      const body = { user_group_id: 'one', name: 'One' };
      // On a busy machine, a request may exceed the minimum of a limit.
      await eventually('a response', async () => {
        const response = await service.call(token, 'GET', '/api/user', body).catch(() => null);
        return response?.status === 200;
      });
    });
  }

  it('treats an empty variable as unset', async () => {
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

  it('serves if the headers timeout is longer than the request timeout', async () => {
    using folder = new Folder();
    await using service = await serveHere(folder, { UGS_HEADERS_TIMEOUT_MS: '600000' });
    assert.equal((await service.call('', 'GET', '/readyz')).status, 200);
  });

  it('reads secrets from files', async () => {
    using folder = new Folder();
    const ring = (await runHosted(folder, ['key', 'generate'])).stdout;
    writeFileSync(folder.join('ring'), ring);
    writeFileSync(folder.join('url'), 'sqlite:from-file.db\n');
    await using _service = await serve(folder, {
      env: { UGS_TOKEN_KEYS_FILE: 'ring', DATABASE_URL_FILE: 'url' },
    });
    assert.ok(existsSync(folder.join('from-file.db')));
    assert.equal(existsSync(folder.join('token-keys')), false);
  });

  it('listens on the address of --host', async () => {
    using folder = new Folder();
    await using service = await serve(folder, { args: ['--host', '127.0.0.2'] });
    assert.equal(await accepts(service, '127.0.0.2'), true);
    assert.equal(await accepts(service, '127.0.0.1'), false);
  });
});

/** Returns whether the service accepts connections on the address. */
function accepts({ url }: Service, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(new URL(url).port) });
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
