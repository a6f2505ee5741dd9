// The settings: one table of names, defaults, parsers and descriptions, from which the service reads its configuration
// and from which the help and the documentation are generated.

import { accessSync, constants } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { isAbsolute } from 'node:path';
import { limits } from './domain/field.ts';
import { Secret } from './domain/secret.ts';
import { didYouMean, similarName } from './domain/suggest.ts';
import { environments } from './domain/tenant.ts';
import { digestOfApiToken } from './domain/token.ts';
import { readSecretFile, refuseSpecialFile } from './system/secret-file.ts';

/** A setting is unknown or has an invalid value. The message is one line and never contains a secret. */
export class ConfigInvalid extends Error {
  override readonly name = 'ConfigInvalid';
}

/** Another process listens on the address of a setting, perhaps not for long. */
export class AddressInUse extends Error {
  override readonly name = 'AddressInUse';
}

export type DatabaseUrl =
  | { engine: 'sqlite'; path: string }
  /** The URL may contain a password. */
  | { engine: 'postgres'; url: Secret };

export interface Setting<Value> {
  /** The environment variable. For a secret, NAME_FILE may name a file that contains the value. */
  env: string;
  /** The flag of `serve`. Secrets have none, because other users can see command lines. */
  flag?: string;
  fallback: string;
  parse: (text: string) => Value;
  meaning: string;
  secret?: true;
}

/**
 * Parameters of a DATABASE_URL and the values that `pg` supports. It ignores other values and connects in
 * plain text, or crashes.
 */
const tlsChoices = {
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  ssl: ['true', '1', '0', 'no-verify'],
  sslnegotiation: ['postgres', 'direct'],
};
/** Parameters whose `require` is ignored by `pg`. */
const IGNORED_DEMANDS = ['channel_binding', 'gssencmode'];
const tlsFiles = ['sslrootcert', 'sslcert', 'sslkey'];
/** Matches the parameters that replace PGSSLMODE: all but `sslnegotiation`. Others of this form are refused. */
const SETS_TLS = /[?&]ssl(?!negotiation)\w*=/;
/** Replaces parameters of other clients. `pg` ignores them: the tables would be in the schema `public`. */
const searchPath = 'options=-c%20search_path%3DNAME';
/** Parameters of a DATABASE_URL that are refused because a setting or another parameter replaces them. */
const replacements = {
  statement_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
  lock_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
  idle_in_transaction_session_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
  query_timeout: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
  connect_timeout: 'UGS_POSTGRES_CONNECT_TIMEOUT_MS',
  connectionTimeoutMillis: 'UGS_POSTGRES_CONNECT_TIMEOUT_MS',
  schema: searchPath,
  currentSchema: searchPath,
  search_path: searchPath,
};
/** Prefix of variables that are refused unless they are settings. */
const PREFIX = 'UGS_';
/**
 * API token for commands with --url. It is not a setting, but is accepted because shells export it for other
 * commands too.
 */
export const API_TOKEN_VARIABLE = 'UGS_API_TOKEN';
const MAX_THREADS = 16;
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const settings = {
  databaseUrl: {
    env: 'DATABASE_URL',
    flag: '--database-url <url>',
    fallback: 'sqlite:data/user-groups.db',
    parse: parseDatabaseUrl,
    meaning:
      'Database to use: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE, with several hosts as HOST:PORT,HOST:PORT.',
    secret: true,
  },
  host: {
    env: 'HOST',
    flag: '--host <address>',
    fallback: '127.0.0.1',
    parse: parseHost,
    meaning: 'Address to listen on; a name, such as localhost, stands for its first address.',
  },
  port: {
    env: 'PORT',
    flag: '--port <port>',
    fallback: '8080',
    parse: integer(0, 65_535),
    meaning: 'Port to listen on; 0 picks a free port.',
  },
  threads: {
    env: 'UGS_THREADS',
    flag: '--threads <threads>',
    fallback: 'auto',
    parse: parseThreads,
    meaning: `Threads that serve requests: 1 to ${MAX_THREADS}, or auto, one per processor that the process may use.`,
  },
  logLevel: {
    env: 'LOG_LEVEL',
    flag: '--log-level <level>',
    fallback: 'info',
    parse: oneOf(logLevels),
    meaning: `Minimum level to log: ${logLevels.join(', ')}. Requests are logged at debug.`,
  },
  logFormat: {
    env: 'UGS_LOG_FORMAT',
    flag: '--log-format <format>',
    fallback: 'auto',
    parse: oneOf(['auto', 'json', 'pretty']),
    meaning: 'Log format: json, pretty, or auto (pretty on a terminal, otherwise json).',
  },
  accessLog: {
    env: 'UGS_ACCESS_LOG',
    flag: '--access-log <mode>',
    fallback: 'off',
    parse: oneOf(['on', 'all', 'off']),
    meaning: 'Whether to log every request at level info: on, all (also health checks that succeed) or off.',
  },
  tokenKeys: {
    env: 'UGS_TOKEN_KEYS',
    fallback: '',
    parse: (text: string) => (text === '' ? null : new Secret(text)),
    meaning:
      'Key ring that encrypts tokens at rest: lines printed by "key generate", the active key first. Required for PostgreSQL; for SQLite the default is a file token-keys next to the database, created on the first start.',
    secret: true,
  },
  bootstrapApiToken: {
    env: 'UGS_BOOTSTRAP_API_TOKEN',
    fallback: '',
    parse: parseApiToken,
    meaning:
      'Text of an admin API token to create at start if it does not exist, printed by "api-token generate". Refuses to start if that API token was revoked.',
    secret: true,
  },
  bootstrapWorkspace: {
    env: 'UGS_BOOTSTRAP_WORKSPACE',
    flag: '--bootstrap-workspace <name>',
    fallback: 'default',
    parse: parseName,
    meaning: 'Workspace of the bootstrap API token, created if it does not exist.',
  },
  bootstrapEnvironment: {
    env: 'UGS_BOOTSTRAP_ENVIRONMENT',
    flag: '--bootstrap-environment <environment>',
    fallback: 'Customer',
    parse: oneOf(environments),
    meaning: `Environment of the bootstrap API token: ${environments.join(' or ')}.`,
  },
  databaseWaitMs: {
    env: 'UGS_DATABASE_WAIT_MS',
    flag: '--database-wait-ms <ms>',
    fallback: '60000',
    parse: integer(0, 3_600_000),
    meaning:
      'How long "serve" waits at startup for PostgreSQL to become available before it exits with code 69.',
  },
  postgresPoolSize: {
    env: 'UGS_POSTGRES_POOL_SIZE',
    flag: '--postgres-pool-size <connections>',
    fallback: '8',
    parse: integer(1, 1_000),
    meaning: 'Maximum number of connections from this process to PostgreSQL.',
  },
  postgresConnectTimeoutMs: {
    env: 'UGS_POSTGRES_CONNECT_TIMEOUT_MS',
    flag: '--postgres-connect-timeout-ms <ms>',
    fallback: '2000',
    parse: integer(10, 600_000),
    meaning:
      'Timeout for connecting to PostgreSQL, and for waiting for a free connection of the pool; at a start, also for each response, if longer than two seconds.',
  },
  postgresStatementTimeoutMs: {
    env: 'UGS_POSTGRES_STATEMENT_TIMEOUT_MS',
    flag: '--postgres-statement-timeout-ms <ms>',
    fallback: '2000',
    parse: integer(0, 600_000),
    meaning:
      'Timeout of a statement in PostgreSQL; the lock timeout is three quarters of it. 0 sends no settings when connecting, for a PgBouncer whose ignore_startup_parameters does not list statement_timeout, lock_timeout, idle_in_transaction_session_timeout and options.',
  },
  postgresPreparedStatements: {
    env: 'UGS_POSTGRES_PREPARED_STATEMENTS',
    flag: '--postgres-prepared-statements <mode>',
    fallback: 'on',
    parse: oneOf(['on', 'off']),
    meaning:
      'Prepared statements: on, or off behind a PgBouncer in transaction pooling mode whose max_prepared_statements is 0, the default before version 1.24.',
  },
  defaultGracePeriodSeconds: {
    env: 'UGS_DEFAULT_GRACE_PERIOD_SECONDS',
    flag: '--default-grace-period-seconds <seconds>',
    fallback: '0',
    parse: integer(0, limits.gracePeriodSeconds),
    meaning: 'How long a replaced token keeps resolving if the rotation does not specify a grace period.',
  },
  eventRetentionDays: {
    env: 'UGS_EVENT_RETENTION_DAYS',
    flag: '--event-retention-days <days>',
    fallback: '90',
    parse: integer(0, 3_650),
    meaning: 'How long events and usage are kept. 0 records none, and webhooks then deliver nothing.',
  },
  eventMebibytesPerDay: {
    env: 'UGS_EVENT_MEBIBYTES_PER_DAY',
    flag: '--event-mebibytes-per-day <mebibytes>',
    fallback: '100',
    parse: integer(0, 1_000_000),
    meaning:
      'Maximum size of the values that the events of one workspace and environment store per day, from this process, in MiB. Beyond it, events only name what changed, except small values. 0 for no limit.',
  },
  webhookAllowPrivate: {
    env: 'UGS_WEBHOOK_ALLOW_PRIVATE',
    flag: '--webhook-allow-private <mode>',
    fallback: 'off',
    parse: oneOf(['on', 'off']),
    meaning:
      'Whether webhooks may be sent to private, local and reserved addresses: on or off. With on, everybody with an admin token can reach the network of this process.',
  },
  publicUrl: {
    env: 'UGS_PUBLIC_URL',
    flag: '--public-url <url>',
    fallback: '',
    parse: parsePublicUrl,
    meaning:
      'URL at which tools reach the service, such as https://groups.example.com: the start of the issuer of embed tokens. Default: the address that it listens on.',
  },
  allowedOrigins: {
    env: 'UGS_ALLOWED_ORIGINS',
    flag: '--allowed-origins <origins>',
    fallback: '',
    parse: parseOrigins,
    meaning:
      'Comma-separated origins whose requests are accepted. Requests with any other Origin header are refused.',
  },
  trustedProxies: {
    env: 'UGS_TRUSTED_PROXIES',
    flag: '--trusted-proxies <addresses>',
    fallback: '',
    parse: parseProxies,
    meaning:
      'Comma-separated addresses and CIDR ranges of the proxies in front, such as 10.0.0.0/8. The address of a client is taken from X-Forwarded-For only if they send it.',
  },
  metricsAddress: {
    env: 'UGS_METRICS_ADDRESS',
    flag: '--metrics-address <address>',
    fallback: '',
    parse: parseAddress,
    meaning: 'Address of /metrics, which needs no API token, such as 127.0.0.1:9464; no metrics if empty.',
  },
  rateLimitPerMinute: {
    env: 'UGS_RATE_LIMIT_PER_MINUTE',
    flag: '--rate-limit-per-minute <requests>',
    fallback: '0',
    parse: integer(0, 100_000_000),
    meaning: 'Maximum requests per minute and API token in this process; 0 for no limit.',
  },
  failedAuthenticationLimitPerMinute: {
    env: 'UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE',
    flag: '--failed-authentication-limit-per-minute <requests>',
    fallback: '300',
    parse: integer(0, 100_000_000),
    meaning:
      'Maximum requests per minute and client address (IPv6: /64) in this process that no API token covers: refused ones and, counted separately, pages without sign-in. Beyond it they get 429; 0 for no limit.',
  },
  queueLimit: {
    env: 'UGS_QUEUE_LIMIT',
    flag: '--queue-limit <commands>',
    fallback: '4096',
    parse: integer(1, 1_000_000),
    meaning:
      'Maximum number of commands queued for the database; beyond it, requests are refused as overloaded. The same number again may be queued for workspaces that have few commands in the queue.',
  },
  maxConnections: {
    env: 'UGS_MAX_CONNECTIONS',
    flag: '--max-connections <connections>',
    fallback: '10000',
    parse: integer(1, 1_000_000),
    meaning: 'Maximum number of concurrent client connections.',
  },
  headersTimeoutMs: {
    env: 'UGS_HEADERS_TIMEOUT_MS',
    flag: '--headers-timeout-ms <ms>',
    fallback: '10000',
    parse: integer(100, 600_000),
    meaning: 'Timeout for receiving the headers of a request.',
  },
  requestTimeoutMs: {
    env: 'UGS_REQUEST_TIMEOUT_MS',
    flag: '--request-timeout-ms <ms>',
    fallback: '30000',
    parse: integer(100, 600_000),
    meaning: 'Timeout for receiving a complete request.',
  },
  answerTimeoutMs: {
    env: 'UGS_ANSWER_TIMEOUT_MS',
    flag: '--answer-timeout-ms <ms>',
    fallback: '30000',
    parse: integer(100, 600_000),
    meaning: 'Timeout for a client to read its response.',
  },
  keepAliveTimeoutMs: {
    env: 'UGS_KEEP_ALIVE_TIMEOUT_MS',
    flag: '--keep-alive-timeout-ms <ms>',
    fallback: '72000',
    // Fastify replaces 0 with its own default.
    parse: integer(1, 3_600_000),
    meaning:
      'How long an idle connection stays open; must be longer than the idle timeout of the load balancer in front.',
  },
  shutdownDelayMs: {
    env: 'UGS_SHUTDOWN_DELAY_MS',
    flag: '--shutdown-delay-ms <ms>',
    // Responses during the delay carry "Connection: close", so that clients stop reusing their keep-alive connections.
    fallback: '500',
    parse: integer(0, 600_000),
    meaning:
      'How long to keep serving after SIGTERM while reporting not ready; behind a load balancer, set some seconds.',
  },
  shutdownTimeoutMs: {
    env: 'UGS_SHUTDOWN_TIMEOUT_MS',
    flag: '--shutdown-timeout-ms <ms>',
    fallback: '20000',
    parse: integer(0, 600_000),
    meaning: 'Timeout for requests in flight to complete after the shutdown delay.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const allSettings: readonly Setting<unknown>[] = Object.values(settings);

/** The environment variables of a setting. */
export function variableNames({ env, secret }: Setting<unknown>): string[] {
  return secret ? [env, `${env}_FILE`] : [env];
}

/** The variables as one text, for help texts. */
export function variableText(setting: Setting<unknown>): string {
  return variableNames(setting).join(', ');
}

type SettingKey = keyof typeof settings;

/** Settings whose values contain a `Secret`. */
type SecretKey = {
  [Key in SettingKey]: (typeof settings)[Key] extends { secret: true } ? Key : never;
}[SettingKey];

/** Values of a command's flags, not parsed yet. */
export type Flags = Partial<Record<SettingKey, string>>;

export type Config = { [Key in SettingKey]: ReturnType<(typeof settings)[Key]['parse']> } & {
  /** The files that secrets were read from. */
  secretFiles: readonly string[];
};

/** The settings that operations read, for their context. */
export function operationSettings({
  defaultGracePeriodSeconds,
  eventRetentionDays,
  publicUrl,
  webhookAllowPrivate,
}: Config) {
  const allowsPrivateWebhooks = webhookAllowPrivate === 'on';
  return { defaultGracePeriodSeconds, eventRetentionDays, publicUrl, allowsPrivateWebhooks };
}

/**
 * Reads the settings from the flags and the environment; flags take precedence. Throws `ConfigInvalid` for an invalid
 * value and for an unknown variable that starts with UGS_.
 */
export function readConfig(env: NodeJS.ProcessEnv, flags: Flags = {}): Config {
  refuseUnknown(env);
  const secretFiles: string[] = [];
  const config: Partial<Record<keyof Config, unknown>> = { secretFiles };
  for (const [key, setting] of Object.entries(settings) as [SettingKey, Setting<unknown>][]) {
    config[key] = readSetting(setting, env, flags[key]);
    const file = secretFile(setting, env);
    if (file !== undefined && flags[key] === undefined) secretFiles.push(file);
  }
  checkTlsVariable(env, (config as Config).databaseUrl);
  return config as Config;
}

/** Refuses a mode that `pg` does not know: unless the URL sets TLS, it would connect in plain text. */
function checkTlsVariable({ PGSSLMODE: mode }: NodeJS.ProcessEnv, databaseUrl: DatabaseUrl): void {
  if (databaseUrl.engine !== 'postgres' || SETS_TLS.test(databaseUrl.url.reveal())) return;
  if (mode && !tlsChoices.sslmode.includes(mode))
    throw new ConfigInvalid(`PGSSLMODE must be one of ${tlsChoices.sslmode.join(', ')}`);
}

/** Only these systems let several listeners share a port. */
const REUSES_PORTS = process.platform === 'linux' || process.platform === 'freebsd';
/** Connections that a thread needs: one to read and one to write. */
const MIN_CONNECTIONS = 2;

/**
 * Returns the number of threads that can serve, and why it is lower than UGS_THREADS; `limit` is null if it
 * is not.
 */
export function servingThreads({
  threads,
  databaseUrl,
  postgresPoolSize,
}: Pick<Config, 'threads' | 'databaseUrl' | 'postgresPoolSize'>): { threads: number; limit: string | null } {
  if (threads > 1 && !REUSES_PORTS)
    return { threads: 1, limit: 'this system cannot share a port between threads' };
  const connected = Math.max(1, Math.floor(postgresPoolSize / MIN_CONNECTIONS));
  if (databaseUrl.engine === 'sqlite' || threads <= connected) return { threads, limit: null };
  return {
    threads: connected,
    limit: `each thread needs ${MIN_CONNECTIONS} connections of UGS_POSTGRES_POOL_SIZE`,
  };
}

const ALL_ADDRESSES = ['0.0.0.0', '::'];

/** Throws `ConfigInvalid` if the metrics would take the address of the service, which could then never listen. */
export function refuseSharedAddress({ host, port, metricsAddress }: Config): void {
  if (port === 0 || metricsAddress?.port !== port) return;
  const hosts = [host, metricsAddress.host];
  if (host === metricsAddress.host || hosts.some((each) => ALL_ADDRESSES.includes(each)))
    throw new ConfigInvalid(
      `UGS_METRICS_ADDRESS must have another port than PORT, ${port}, because the service listens there`,
    );
}

/** Settings as they are sent to another thread, which cannot receive a `Secret`. */
export type ConfigMessage = Omit<Config, SecretKey> & {
  databaseUrl: { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string };
  tokenKeys: string;
};

/** Converts the settings. `tokenKeys` is the text of the key ring, wherever it was loaded from. */
export function configMessage(config: Config, tokenKeys: Secret): ConfigMessage {
  const { databaseUrl, bootstrapApiToken: _, ...rest } = config;
  const url =
    databaseUrl.engine === 'sqlite' ? databaseUrl : { ...databaseUrl, url: databaseUrl.url.reveal() };
  return { ...rest, databaseUrl: url, tokenKeys: tokenKeys.reveal() };
}

export function configFromMessage({
  databaseUrl,
  tokenKeys,
  ...rest
}: ConfigMessage): Config & { tokenKeys: Secret } {
  const url =
    databaseUrl.engine === 'sqlite' ? databaseUrl : { ...databaseUrl, url: new Secret(databaseUrl.url) };
  return { ...rest, databaseUrl: url, tokenKeys: new Secret(tokenKeys), bootstrapApiToken: null };
}

function secretFile({ env: name, secret }: Setting<unknown>, env: NodeJS.ProcessEnv): string | undefined {
  return (secret && env[`${name}_FILE`]) || undefined;
}

/** Reads one setting from its flag, else the environment, else its default. Throws `ConfigInvalid`. */
export function readSetting<Value>(setting: Setting<Value>, env: NodeJS.ProcessEnv, flag?: string): Value {
  const flagName = setting.flag?.split(' ')[0];
  const source = flag === undefined ? setting.env : (flagName ?? setting.env);
  const text = flag ?? fromEnvironment(setting, env) ?? setting.fallback;
  let value: Value;
  try {
    value = setting.parse(text);
  } catch (error) {
    throw new ConfigInvalid(`${source} ${(error as Error).message}${explainEnds(text)}`);
  }
  if (setting.secret && flag && hasPassword(flag)) {
    throw new ConfigInvalid(
      `${flagName} must not contain a password, because other users can see command lines; use ${setting.env} or ${setting.env}_FILE`,
    );
  }
  return value;
}

/** Explains white space or quotes around a value: most programs that read a file of settings keep them. */
function explainEnds(text: string): string {
  if (text !== text.trim())
    return ': its value starts or ends with white space, perhaps the carriage return of a file from Windows';
  return /^(["']).*\1$/s.test(text) ? ': its value is in quotes, which are a part of it' : '';
}

function fromEnvironment(setting: Setting<unknown>, env: NodeJS.ProcessEnv): string | undefined {
  const { env: name } = setting;
  const file = secretFile(setting, env);
  if (file === undefined) return env[name] || undefined;
  if (env[name]) throw new ConfigInvalid(`${name} and ${name}_FILE must not both be set`);
  const text = readSecret(file, name);
  if (text === '') throw new ConfigInvalid(`${name}_FILE names an empty file`);
  return text;
}

function readSecret(file: string, name: string): string {
  try {
    return readSecretFile(file).trim();
  } catch (error) {
    throw new ConfigInvalid(`${name}_FILE names a file that cannot be read: ${(error as Error).message}`);
  }
}

function refuseUnknown(env: NodeJS.ProcessEnv): void {
  const known = allSettings.flatMap(variableNames);
  for (const name of Object.keys(env)) {
    if (name.startsWith(PREFIX) && name !== API_TOKEN_VARIABLE && !known.includes(name)) {
      const similar = similarName(name, known) ?? similarName(name.slice(PREFIX.length), known);
      const hint = didYouMean(similar) || '; "serve --help" lists all settings';
      throw new ConfigInvalid(`${name} is not a setting of this service${hint}`);
    }
  }
}

const AUTHORITY = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** Returns one URL per host: as in libpq, postgres://USER:PASSWORD@a:5432,b:5432/DATABASE has two. */
export function urlsOfHosts(databaseUrl: string): string[] {
  const [, start = databaseUrl, hosts = '', rest = ''] = AUTHORITY.exec(databaseUrl) ?? [];
  // `URL` refuses a user without a host; the parameter, such as the directory of a socket, takes precedence.
  if (start.endsWith('@') && hosts === '' && /[?&]host=/.test(rest)) return [`${start}localhost${rest}`];
  return hosts.split(',').map((host) => start + host + rest);
}

/** Parameters, and what only a shell expands or removes: as a path, it would name a new, empty database. */
export const NOT_IN_PATH = /\?|^[~$"']/;

function parseDatabaseUrl(text: string): DatabaseUrl {
  // A path with a trailing space would name a new, empty database.
  const path = /^sqlite:(?:\/\/)?(\S|\S.*\S)$/.exec(text)?.[1];
  if (path !== undefined && path !== ':memory:' && !NOT_IN_PATH.test(path)) {
    if (!isAbsolute(path)) requireWorkingDirectory();
    return { engine: 'sqlite', path };
  }
  if (/^postgres(?:ql)?:\/\//.test(text)) {
    for (const url of urlsOfHosts(text)) {
      const { searchParams } = parsePostgresUrl(url);
      checkTls(searchParams);
      checkTarget(searchParams);
      refuseReplaced(searchParams);
    }
    return { engine: 'postgres', url: new Secret(text) };
  }
  throw new Error(
    'must be sqlite:PATH, such as sqlite:data/user-groups.db, without parameters, quotes, "~" and "$", or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
  );
}

/** A process that starts threads leaves a deleted directory: the path would name a new database elsewhere. */
function requireWorkingDirectory(): void {
  try {
    process.cwd();
  } catch {
    throw new Error('must name an absolute path, because the working directory was deleted');
  }
}

/**
 * Refuses an unescaped "/", "?" or "#" in the password, which ends the authority early and makes the rest part of the
 * path, the query or the fragment; and a "%" that does not begin the encoding of a character.
 */
function parsePostgresUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && url.hash === '' && !url.pathname.includes('@') && isDecodable(text)) return url;
  throw new Error(
    'must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with "%", "/", "?" and "#" in the password escaped as %25, %2F, %3F and %23',
  );
}

function isDecodable(text: string): boolean {
  try {
    text.replace(/(?:%[\da-f]{2})+/gi, decodeURIComponent);
    return true;
  } catch {
    return false;
  }
}

function checkTls(parameters: URLSearchParams): void {
  refuseUnknownTls(parameters);
  for (const [name, choices] of Object.entries(tlsChoices)) {
    const choice = parameters.get(name);
    if (choice !== null && !choices.includes(choice)) {
      throw new Error(`must set ${name} to one of ${choices.join(', ')}`);
    }
  }
  for (const name of IGNORED_DEMANDS)
    if (parameters.get(name) === 'require')
      throw new Error(`must not set ${name} to require, which has no effect`);
  for (const name of tlsFiles) {
    const file = parameters.get(name);
    if (file !== null) checkReadable(file, name);
  }
}

/**
 * Refuses unknown TLS parameters, which `pg` ignores: with a misspelled name it would connect in plain text,
 * or without checking the certificate.
 */
function refuseUnknownTls(parameters: URLSearchParams): void {
  const known = [...Object.keys(tlsChoices), ...tlsFiles];
  // An unescaped password can become part of another parameter's name.
  const unknown = [...parameters.keys()].find(
    (name) => /^(?:ssl|tls|require)[\w-]*$/i.test(name) && !known.includes(name),
  );
  if (unknown !== undefined)
    throw new Error(`must not set ${unknown}, which has no effect${didYouMean(similarName(unknown, known))}`);
}

/** The service always needs the primary: a standby may lag behind. */
function checkTarget(parameters: URLSearchParams): void {
  const target = parameters.get('target_session_attrs');
  if (target !== null && target !== 'read-write' && target !== 'primary')
    throw new Error('must not set target_session_attrs to anything but read-write or primary');
}

function checkReadable(file: string, name: string): void {
  try {
    refuseSpecialFile(file);
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new Error(`sets ${name} to a file that cannot be read: ${(error as Error).message}`);
  }
}

/** Refuses even known timeouts: parameters of the URL override all other options of `pg`. */
function refuseReplaced(parameters: URLSearchParams): void {
  for (const [name, replacement] of Object.entries(replacements)) {
    if (parameters.has(name)) throw new Error(`must not set ${name}; use ${replacement} instead`);
  }
}

function hasPassword(url: string): boolean {
  return /^[a-z]+:\/\/[^/@]*:[^/@]+@/i.test(url) || /[?&]password=/i.test(url);
}

function parseApiToken(text: string): Secret | null {
  if (text === '') return null;
  if (digestOfApiToken(text) !== null) return new Secret(text);
  throw new Error(
    'must be one API token ("uga_…"), as "api-token generate" prints it: check for missing characters',
  );
}

/** Throws if no workspace can have this name. */
export function parseName(text: string): string {
  if (text.trim() !== '' && [...text].length <= limits.textCodePoints && !/\p{Cc}/u.test(text)) return text;
  throw new Error('must have 1 to 255 characters and no control characters');
}

function parseThreads(text: string): number {
  if (text === 'auto') return Math.min(availableParallelism(), MAX_THREADS);
  try {
    return integer(1, MAX_THREADS)(text);
  } catch (error) {
    throw new Error(`${(error as Error).message}, or auto`);
  }
}

function parseHost(text: string): string {
  // Node listens on all addresses if the host is empty.
  if (isIP(text) !== 0 || /^[^\s"'[\]/:]+$/.test(text)) return text;
  throw new Error('must be an address, such as 127.0.0.1, 0.0.0.0 or ::1, without brackets and port');
}

/** Removes trailing slashes, which would become part of every issuer. */
function parsePublicUrl(text: string): string {
  if (text !== '') parseHttpUrl(text);
  return text.replace(/\/+$/, '');
}

/**
 * Parses an http or https URL; throws for any other. The message does not contain the URL, which may include
 * a password.
 */
export function parseHttpUrl(text: string): URL {
  const url = URL.parse(text);
  if (
    url !== null &&
    // The URL parser also accepts white space and an empty query, which the text would keep, and missing slashes.
    /^https?:\/\/[^\s?#]+$/i.test(text) &&
    url.username + url.password === ''
  )
    return url;
  throw new Error('must be an http or https URL without a user, query or fragment');
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

function parseAddress(text: string): { host: string; port: number } | null {
  if (text === '') return null;
  const [, v6, name, port = ''] = /^(?:\[([^\]]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new Error('must be an address and a port, such as 127.0.0.1:9464 or [::1]:9464');
}

function parseProxies(text: string): BlockList {
  const proxies = new BlockList();
  for (const each of text.split(',').map((part) => part.trim())) {
    if (each !== '') addProxy(proxies, each);
  }
  return proxies;
}

function addProxy(proxies: BlockList, text: string): void {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  if (version === 0 || Number(prefix ?? 0) > bits) {
    throw new Error('must be a list of addresses and CIDR ranges such as 10.0.0.0/8, 2001:db8::/32');
  }
  proxies.addSubnet(address, Number(prefix ?? bits), version === 4 ? 'ipv4' : 'ipv6');
}

function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new Error(`must be an integer from ${min} to ${max}`);
  };
}

function oneOf<const Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    throw new Error(`must be one of ${choices.join(', ')}`);
  };
}
