// The settings: one table of names, defaults, parsers and meanings. The help, the documentation and the start of
// the service all read it.

import { accessSync, constants, readFileSync } from 'node:fs';
import { limits } from './domain/field.ts';
import { nearest } from './domain/nearest.ts';
import { Secret } from './domain/secret.ts';

/** A setting is unknown or has a bad value. The message is one line and never holds a secret. */
export class ConfigInvalid extends Error {
  override readonly name = 'ConfigInvalid';
}

export type DatabaseUrl =
  | { engine: 'sqlite'; path: string }
  /** The URL may hold a password. */
  | { engine: 'postgres'; url: Secret };

export interface Setting<Value> {
  /** The environment variable. Where the setting is secret, NAME_FILE names a file that holds it. */
  env: string;
  /** The flag of `serve`; a secret has none, since command lines are there for all to see. */
  flag?: string;
  fallback: string;
  parse: (text: string) => Value;
  meaning: string;
  secret?: true;
}

/** What `pg` knows of the parameters of a DATABASE_URL: of another value it makes none, and asks in plain, or breaks. */
const tlsChoices = {
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  ssl: ['true', '1', '0', 'no-verify'],
  sslnegotiation: ['postgres', 'direct'],
};
const tlsFiles = ['sslrootcert', 'sslcert', 'sslkey'];
/** Parameters of a DATABASE_URL that settings stand for. */
const timeouts = {
  statement_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
  lock_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
  idle_in_transaction_session_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
  query_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
  connectionTimeoutMillis: 'UGS_POSTGRES_CONNECT_TIMEOUT_MS',
};
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const settings = {
  databaseUrl: {
    env: 'DATABASE_URL',
    flag: '--database-url <url>',
    fallback: 'sqlite:data/user-groups.db',
    parse: parseDatabaseUrl,
    meaning: 'Where the user groups are: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
    secret: true,
  },
  host: {
    env: 'HOST',
    flag: '--host <address>',
    fallback: '127.0.0.1',
    parse: parseHost,
    meaning: 'Address to listen on.',
  },
  port: {
    env: 'PORT',
    flag: '--port <port>',
    fallback: '8080',
    parse: integer(0, 65_535),
    meaning: 'Port to listen on; 0 takes a free one.',
  },
  logLevel: {
    env: 'LOG_LEVEL',
    flag: '--log-level <level>',
    fallback: 'info',
    parse: oneOf(logLevels),
    meaning: `Least level that is logged: ${logLevels.join(', ')}. Requests are logged at debug.`,
  },
  logFormat: {
    env: 'UGS_LOG_FORMAT',
    flag: '--log-format <format>',
    fallback: 'auto',
    parse: oneOf(['auto', 'json', 'pretty']),
    meaning: 'json, pretty, or auto: pretty on a terminal.',
  },
  tokenKeys: {
    env: 'UGS_TOKEN_KEYS',
    fallback: '',
    parse: (text: string) => (text === '' ? null : new Secret(text)),
    meaning:
      'Key ring for the tokens at rest: lines of "key generate", the active key first. Where it is not set, SQLite keeps a file token-keys beside the database; PostgreSQL needs it.',
    secret: true,
  },
  databaseWaitMs: {
    env: 'UGS_DATABASE_WAIT_MS',
    flag: '--database-wait-ms <ms>',
    fallback: '60000',
    parse: integer(0, 3_600_000),
    meaning: 'How long "serve" waits at its start for a PostgreSQL that is away, before it ends with 69.',
  },
  postgresPoolSize: {
    env: 'UGS_POSTGRES_POOL_SIZE',
    flag: '--postgres-pool-size <connections>',
    fallback: '8',
    parse: integer(1, 1_000),
    meaning: 'Connections of this process to PostgreSQL, at most.',
  },
  postgresConnectTimeoutMs: {
    env: 'UGS_POSTGRES_CONNECT_TIMEOUT_MS',
    flag: '--postgres-connect-timeout-ms <ms>',
    fallback: '2000',
    parse: integer(10, 600_000),
    meaning: 'How long a connection to PostgreSQL may take, or a free one to come.',
  },
  postgresStatementTimeoutMs: {
    env: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
    flag: '--postgres-statement-timeout-ms <ms>',
    fallback: '2000',
    parse: integer(0, 600_000),
    meaning:
      'How long PostgreSQL may work on a statement, three quarters of it waiting for a lock. 0 sends no settings with a connection: for a PgBouncer that is not told to ignore statement_timeout, lock_timeout, idle_in_transaction_session_timeout and options.',
  },
  postgresPreparedStatements: {
    env: 'UGS_POSTGRES_PREPARED_STATEMENTS',
    flag: '--postgres-prepared-statements <mode>',
    fallback: 'on',
    parse: oneOf(['on', 'off']),
    meaning: 'on, or off behind a PgBouncer before 1.21 that pools transactions.',
  },
  defaultGracePeriodSeconds: {
    env: 'UGS_DEFAULT_GRACE_PERIOD_SECONDS',
    flag: '--default-grace-period-seconds <seconds>',
    fallback: '0',
    parse: integer(0, limits.gracePeriodSeconds),
    meaning: 'How long a replaced token goes on resolving where a rotation does not say.',
  },
  allowedOrigins: {
    env: 'UGS_ALLOWED_ORIGINS',
    flag: '--allowed-origins <origins>',
    fallback: '',
    parse: parseOrigins,
    meaning:
      'Origins whose requests are accepted, separated by commas. Others that send an Origin header are refused.',
  },
  rateLimitPerMinute: {
    env: 'UGS_RATE_LIMIT_PER_MINUTE',
    flag: '--rate-limit-per-minute <requests>',
    fallback: '0',
    parse: integer(0, 100_000_000),
    meaning: 'Requests a minute that one API token may make of this process; 0 for no limit.',
  },
  queueLimit: {
    env: 'UGS_QUEUE_LIMIT',
    flag: '--queue-limit <commands>',
    fallback: '4096',
    parse: integer(1, 1_000_000),
    meaning: 'Commands that may wait for the database before requests are refused as overloaded.',
  },
  maxConnections: {
    env: 'UGS_MAX_CONNECTIONS',
    flag: '--max-connections <connections>',
    fallback: '10000',
    parse: integer(1, 1_000_000),
    meaning: 'Client connections at one time.',
  },
  headersTimeoutMs: {
    env: 'UGS_HEADERS_TIMEOUT_MS',
    flag: '--headers-timeout-ms <ms>',
    fallback: '10000',
    parse: integer(100, 600_000),
    meaning: 'How long the headers of a request may take to arrive.',
  },
  requestTimeoutMs: {
    env: 'UGS_REQUEST_TIMEOUT_MS',
    flag: '--request-timeout-ms <ms>',
    fallback: '30000',
    parse: integer(100, 600_000),
    meaning: 'How long a whole request may take to arrive.',
  },
  answerTimeoutMs: {
    env: 'UGS_ANSWER_TIMEOUT_MS',
    flag: '--answer-timeout-ms <ms>',
    fallback: '30000',
    parse: integer(100, 600_000),
    meaning: 'How long a client may take to read what is ready for it.',
  },
  keepAliveTimeoutMs: {
    env: 'UGS_KEEP_ALIVE_TIMEOUT_MS',
    flag: '--keep-alive-timeout-ms <ms>',
    fallback: '72000',
    // Fastify takes 0 for its own default.
    parse: integer(1, 3_600_000),
    meaning: 'How long an idle connection stays open; longer than that of the load balancer in front.',
  },
  shutdownDelayMs: {
    env: 'UGS_SHUTDOWN_DELAY_MS',
    flag: '--shutdown-delay-ms <ms>',
    // A client that is about to send on a connection that it keeps learns with its next answer that this ends.
    fallback: '500',
    parse: integer(0, 600_000),
    meaning:
      'How long to go on serving, not ready any more, after SIGTERM; a load balancer needs some seconds.',
  },
  shutdownTimeoutMs: {
    env: 'UGS_SHUTDOWN_TIMEOUT_MS',
    flag: '--shutdown-timeout-ms <ms>',
    fallback: '20000',
    parse: integer(0, 600_000),
    meaning: 'How long requests in flight may take to end after that.',
  },
} as const satisfies Record<string, Setting<unknown>>;

/** The environment variables of a setting, for people. */
export function variablesOf({ env, secret }: Setting<unknown>): string {
  return secret ? `${env}, ${env}_FILE` : env;
}

type SettingKey = keyof typeof settings;

/** What flags of a command set, as text. */
export type Flags = Partial<Record<SettingKey, string>>;

export type Config = { [Key in SettingKey]: ReturnType<(typeof settings)[Key]['parse']> } & {
  /** The files that secrets have come from. */
  secretFiles: readonly string[];
};

/**
 * The settings from the environment and, before it, from flags. Throws `ConfigInvalid` for a value that is bad
 * and for a variable that begins with UGS_ and is none of them.
 */
export function readConfig(env: NodeJS.ProcessEnv, flags: Flags = {}): Config {
  refuseUnknown(env);
  const secretFiles: string[] = [];
  const config: Partial<Record<keyof Config, unknown>> = { secretFiles };
  for (const [key, setting] of Object.entries(settings) as [SettingKey, Setting<unknown>][]) {
    config[key] = readSetting(setting, env, flags[key]);
    const file = secretFileOf(setting, env);
    if (file !== undefined && flags[key] === undefined) secretFiles.push(file);
  }
  return config as Config;
}

function secretFileOf({ env: name, secret }: Setting<unknown>, env: NodeJS.ProcessEnv): string | undefined {
  return (secret && env[`${name}_FILE`]) || undefined;
}

/** One setting: from its flag, else from the environment, else its default. Throws `ConfigInvalid`. */
export function readSetting<Value>(setting: Setting<Value>, env: NodeJS.ProcessEnv, flag?: string): Value {
  const flagName = setting.flag?.split(' ')[0];
  const source = flag === undefined ? setting.env : (flagName ?? setting.env);
  const text = flag ?? fromEnvironment(setting, env) ?? setting.fallback;
  let value: Value;
  try {
    value = setting.parse(text);
  } catch (error) {
    throw new ConfigInvalid(`${source} ${(error as Error).message}`);
  }
  if (setting.secret && flag && hasPassword(flag)) {
    throw new ConfigInvalid(
      `${flagName} must hold no password, since command lines are there for all to see; use ${setting.env} or ${setting.env}_FILE`,
    );
  }
  return value;
}

function fromEnvironment(setting: Setting<unknown>, env: NodeJS.ProcessEnv): string | undefined {
  const { env: name } = setting;
  const file = secretFileOf(setting, env);
  if (file === undefined) return env[name] || undefined;
  if (env[name]) throw new ConfigInvalid(`${name} and ${name}_FILE must not both be set`);
  const text = readSecret(file, name);
  if (text === '') throw new ConfigInvalid(`${name}_FILE names an empty file`);
  return text;
}

function readSecret(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigInvalid(`${name}_FILE names a file that cannot be read: ${(error as Error).message}`);
  }
}

function refuseUnknown(env: NodeJS.ProcessEnv): void {
  const known = Object.values(settings).flatMap((setting: Setting<unknown>) =>
    setting.secret ? [setting.env, `${setting.env}_FILE`] : [setting.env],
  );
  for (const name of Object.keys(env)) {
    if (name.startsWith('UGS_') && !known.includes(name)) {
      throw new ConfigInvalid(`${name} is no setting of this service${nearest(name, known)}`);
    }
  }
}

function parseDatabaseUrl(text: string): DatabaseUrl {
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
  if (path !== undefined && path !== ':memory:') return { engine: 'sqlite', path };
  if (/^postgres(?:ql)?:\/\//.test(text)) {
    const { searchParams } = parsePostgresUrl(text);
    checkTls(searchParams);
    refuseTimeouts(searchParams);
    return { engine: 'postgres', url: new Secret(text) };
  }
  throw new Error(
    'must be sqlite:PATH, such as sqlite:data/user-groups.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
  );
}

/** A password that is not encoded may end the name of the host early: the rest of it is where nothing else is. */
function parsePostgresUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && url.hash === '' && !url.pathname.includes('@')) return url;
  throw new Error(
    'must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, where "/", "?" and "#" in a password are %2F, %3F and %23',
  );
}

function checkTls(parameters: URLSearchParams): void {
  for (const [name, choices] of Object.entries(tlsChoices)) {
    const choice = parameters.get(name);
    if (choice !== null && !choices.includes(choice)) {
      throw new Error(`must have for ${name} one of ${choices.join(', ')}`);
    }
  }
  for (const name of tlsFiles) {
    const file = parameters.get(name);
    if (file !== null) checkReadable(file, name);
  }
}

function checkReadable(file: string, name: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new Error(`has for ${name} a file that cannot be read: ${(error as Error).message}`);
  }
}

/** In `pg` the URL goes before all else. */
function refuseTimeouts(parameters: URLSearchParams): void {
  for (const [name, setting] of Object.entries(timeouts)) {
    if (parameters.has(name)) throw new Error(`must not have ${name}, which ${setting} is for`);
  }
}

function hasPassword(url: string): boolean {
  return /^[a-z]+:\/\/[^/@]*:[^/@]+@/i.test(url) || /[?&]password=/i.test(url);
}

function parseHost(text: string): string {
  // Node takes an empty address for all of them.
  if (text.trim() === '') throw new Error('must be an address, such as 127.0.0.1 or 0.0.0.0');
  return text;
}

function parseOrigins(text: string): string[] {
  const origins = text
    .split(',')
    .map((origin) => origin.trim())
    .filter(Boolean);
  for (const origin of origins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error('must be a list of origins such as https://app.example.com');
    }
  }
  return origins;
}

function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new Error(`must be a whole number from ${least} to ${most}`);
  };
}

function oneOf<const Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    throw new Error(`must be one of ${choices.join(', ')}`);
  };
}
