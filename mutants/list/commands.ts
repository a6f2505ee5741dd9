import type { Mutant } from '../mutant.ts';

const app = 'src/app.ts';
const duration = 'src/commands/duration.ts';
const config = 'src/config.ts';
const exitCode = 'src/commands/exit-code.ts';
const exposedFile = 'src/system/secret-file-permissions.ts';
const importing = 'src/commands/import.ts';
const log = 'src/log.ts';
const publish = 'src/system/atomic-file.ts';
const restore = 'src/commands/restore.ts';
const restoreFile = 'src/store/sqlite/schema/restore.ts';
const tokenKeys = 'src/key-ring-source.ts';

export const commands: readonly Mutant[] = [
  {
    name: 'restore: a damaged backup is restored',
    file: restoreFile,
    find: 'if (corruption !== null) throw',
    replace: 'if (false) throw',
    tests: ['test/process/restore.test.ts'],
  },
  {
    name: 'restore: the log of another database is left beside the restored one',
    file: restoreFile,
    find: "const COMPANIONS = ['-journal', '-wal', '-shm'];",
    replace: 'const COMPANIONS: string[] = [];',
    tests: ['test/process/restore.test.ts'],
  },
  {
    name: 'restore: no token is decrypted',
    file: restore,
    find: 'limit: TOKENS_PER_KEY',
    replace: 'limit: 0',
    tests: ['test/process/restore.test.ts'],
  },
  {
    name: 'exit code: not found is 1',
    file: exitCode,
    find: 'if (error instanceof NotFound || error instanceof WorkspaceDeleted) return exitCodes.notFound;',
    replace: 'if (error instanceof WorkspaceDeleted) return exitCodes.notFound;',
    tests: ['test/cli/no-database.test.ts'],
  },
  {
    name: 'exit code: an invalid setting is 1',
    file: exitCode,
    find: 'if (error instanceof ConfigInvalid || error instanceof StoredTokenUnreadable) return exitCodes.config;',
    replace: 'if (error instanceof StoredTokenUnreadable) return exitCodes.config;',
    tests: ['test/cli/serve-command.test.ts'],
  },
  {
    name: 'exit code: an import with rejected lines is 0',
    file: importing,
    find: 'if (refused > 0) {',
    replace: 'if (false) {',
    tests: ['test/process/import.test.ts'],
  },
  {
    name: 'exit code: a file that another process serves is 1',
    file: exitCode,
    find: 'if (error instanceof AlreadyServed || error instanceof AddressInUse) return exitCodes.busy;',
    replace: '',
    tests: ['test/process/database-file.test.ts'],
  },
  {
    name: 'exit code: an unreachable database is 1',
    file: exitCode,
    find: 'if (error instanceof StoreUnavailable) return exitCodes.unavailable;',
    replace: '',
    tests: ['test/cli/serve-command.test.ts'],
  },
  {
    name: 'settings: a number may be one below its minimum',
    file: config,
    find: 'if (value >= min && value <= max) return value;',
    replace: 'if (value >= min - 1 && value <= max) return value;',
    tests: ['test/cli/serve-command.test.ts'],
  },
  {
    name: 'settings: a number may be one above its maximum',
    file: config,
    find: 'if (value >= min && value <= max) return value;',
    replace: 'if (value >= min && value <= max + 1) return value;',
    tests: ['test/cli/serve-command.test.ts'],
  },
  {
    name: 'settings: an unknown variable is ignored',
    file: config,
    find: "if (name.startsWith('UGS_') && !known.includes(name)) {",
    replace: 'if (false) {',
    tests: ['test/cli/serve-command.test.ts'],
  },
  {
    name: 'settings: a password is accepted on the command line',
    file: config,
    find: 'if (setting.secret && flag && hasPassword(flag)) {',
    replace: 'if (false) {',
    tests: ['test/cli/serve-command.test.ts'],
  },
  {
    name: 'settings: an allowed origin may have a path',
    file: config,
    find: '!URL.canParse(origin) || new URL(origin).origin !== origin',
    replace: '!URL.canParse(origin)',
    tests: ['test/cli/serve-command.test.ts'],
  },
  {
    name: 'settings: an empty host listens on every address',
    file: config,
    find: "if (text.trim() === '') throw new Error('must be an address, such as 127.0.0.1 or 0.0.0.0');",
    replace: '',
    tests: ['test/cli/serve-command.test.ts'],
  },
  {
    name: 'log: lines are not redacted',
    file: log,
    find: 'hooks: { streamWrite: redact },',
    replace: '',
    tests: ['test/log/log.test.ts'],
  },
  {
    name: 'key ring: a missing key file is replaced by a new key',
    file: tokenKeys,
    find: 'if (!hasTokens) withKeyFile',
    replace: 'if (true) withKeyFile',
    tests: ['test/process/key.test.ts'],
  },
  {
    name: 'key ring: the service starts without a key that stored tokens need',
    file: tokenKeys,
    find: 'if (missing.length === 0) return;',
    replace: 'if (missing.length >= 0) return;',
    tests: ['test/process/key.test.ts'],
  },
  {
    name: 'files: a secret is readable by other users',
    file: publish,
    find: "openSync(unfinished, 'wx', 0o600)",
    replace: "openSync(unfinished, 'wx', 0o644)",
    tests: ['test/process/backup.test.ts'],
  },
  {
    name: 'files: an existing file is overwritten',
    file: publish,
    find: 'if (existsSync(path)) throw new FileExists(path);',
    replace: 'rmSync(path, { force: true });',
    tests: ['test/process/backup.test.ts'],
  },
  {
    name: 'files: a secret readable by other users causes no warning',
    file: exposedFile,
    find: '(stat.mode & 0o077) !== 0',
    replace: '(stat.mode & 0o007) !== 0',
    tests: ['test/process/secret-file.test.ts'],
  },
  {
    name: 'api-token: a duration of 0 is accepted',
    file: duration,
    find: 'if (!(ms > 0 && ms <=',
    replace: 'if (!(ms >= 0 && ms <=',
    tests: ['test/cli/api-token-command.test.ts'],
  },
  {
    name: 'shutdown: the service stays ready',
    file: app,
    find: "phase = 'draining';",
    replace: '',
    tests: ['test/process/shutdown.test.ts'],
  },
  {
    name: 'shutdown: the timeout is ignored',
    file: app,
    find: 'const deadline = setTimeout(() => server.server.closeAllConnections(), config.shutdownTimeoutMs);',
    replace: 'const deadline = undefined;',
    tests: ['test/process/shutdown.test.ts'],
  },
  {
    name: 'shutdown: the database closes during requests of disconnected clients',
    file: app,
    find: 'await running.allEnded();',
    replace: '',
    tests: ['test/process/raw-http.test.ts', 'test/process/shutdown.test.ts'],
  },
  {
    name: 'serve: an address of metrics that is in use is an invalid setting',
    file: 'src/http/metrics-server.ts',
    find: "if (code !== 'EADDRINUSE') return",
    replace: 'return',
    tests: ['test/metrics/metrics.test.ts'],
  },
  {
    name: 'backup: its time is not recorded',
    file: 'src/commands/backup.ts',
    find: '    recordBackup(path);',
    replace: '',
    tests: ['test/process/backup.test.ts'],
  },
  {
    name: 'webhook disable: --environment is ignored',
    file: 'src/commands/webhook.ts',
    find: 'options.environment ? [options.environment] : environments',
    replace: 'environments',
    tests: ['test/cli/webhook-command.test.ts'],
  },
];
