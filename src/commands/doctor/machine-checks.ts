// Checks the machine that doctor runs on: file permissions, disk space and limits. The results apply to the
// service only if doctor runs as the same user, in the same container or unit.

import { existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../../config.ts';
import { keyFilePath } from '../../key-ring-source.ts';
import { isExposed, isPrivate } from '../../system/secret-file-permissions.ts';
import { attempt, type Check, type CheckResult, failed, GIVE_ACCESS, ok, skipped, warning } from './check.ts';

const MEGABYTE = 1_000_000;
const DISK_FAILURE_BYTES = 100 * MEGABYTE;
const DISK_WARNING_BYTES = 1_000 * MEGABYTE;
/** Files besides client connections; docs/deploy.md recommends the same. */
const OTHER_FILES = 100;
const MIN_FILES = 1_024;

/** `pid` is the process of the service; null if unknown. */
export async function checkMachine(config: Config, pid: number | null): Promise<Check[]> {
  return [
    { name: 'secret files', ...checkSecretFiles(config) },
    await attempt('database file', GIVE_ACCESS, () => checkDatabaseFile(config)),
    await attempt('disk space', GIVE_ACCESS, () => checkDisk(config)),
    await attempt('open files', 'check "ulimit -n" instead', () => checkOpenFiles(config, pid)),
  ];
}

function checkSecretFiles(config: Config): CheckResult {
  const files = [...config.secretFiles, keyFilePath(config) ?? []].flat().filter((file) => existsSync(file));
  if (files.length === 0) return ok('no secret is read from a file');
  const exposed = files.filter(isExposed);
  if (exposed.length === 0) return ok(readersOf(files));
  const message = `other users can read ${exposed.join(', ')}`;
  return failed(message, `run chmod 600 ${exposed.join(' ')}, and replace secrets that may be known`);
}

/** Says who can read these files, none of which is exposed. */
function readersOf(files: readonly string[]): string {
  const foreign = files.filter((file) => !isPrivate(file)).join(', ');
  if (foreign === '') return `only the owner can read ${files.join(', ')}`;
  return `other users can read no file of this user; not checked, because it belongs to another user or to a container engine: ${foreign}`;
}

function checkDatabaseFile({ databaseUrl }: Config): CheckResult {
  if (databaseUrl.engine !== 'sqlite') return skipped('the database is PostgreSQL');
  const { path } = databaseUrl;
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status?.isFile())
    return skipped(`${path} ${status === undefined ? 'does not exist' : 'is not a file'}`);
  const files = ['', '-wal', '-shm'].map((suffix) => path + suffix).filter((file) => existsSync(file));
  const exposed = files.filter(isExposed);
  if (exposed.length === 0) return ok(readersOf(files));
  const message = `other users can access ${exposed.join(', ')}`;
  return warning(message, `run chmod 600 ${exposed.join(' ')}`);
}

function checkDisk({ databaseUrl }: Config): CheckResult {
  if (databaseUrl.engine !== 'sqlite') return skipped('monitor the disk of the PostgreSQL server there');
  const { path } = databaseUrl;
  const directory = dirname(path);
  if (!existsSync(directory)) return skipped(`${directory} does not exist`);
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const message = `${Math.floor(free / MEGABYTE)} MB are free in ${directory}; the database has ${Math.ceil(size / MEGABYTE)} MB`;
  const remedy = 'free disk space or enlarge the volume: without space, every change is refused with 503';
  if (free < DISK_FAILURE_BYTES) return failed(message, remedy);
  if (free < Math.max(DISK_WARNING_BYTES, size)) return warning(message, remedy);
  return ok(message);
}

function checkOpenFiles({ maxConnections }: Config, pid: number | null): CheckResult {
  const limits = `/proc/${pid ?? 'self'}/limits`;
  if (!existsSync('/proc/self/limits')) return skipped(`this system has no ${limits}; check "ulimit -n"`);
  if (!existsSync(limits))
    return failed(
      `process ${pid} is not running`,
      'start the service, or pass its process id; systemd shows 0 while it is stopped',
    );
  const text = /^Max open files +(\S+)/m.exec(readFileSync(limits, 'utf8'))?.[1];
  const limit = text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
  const wanted = maxConnections + OTHER_FILES;
  // A supervisor gives the service limits of its own.
  const subject = pid === null ? 'this process, which is not the service,' : `process ${pid}`;
  const message = `${subject} may open ${text} files; UGS_MAX_CONNECTIONS needs ${wanted}`;
  const remedy = `raise the limit to ${wanted} (ulimit -n, LimitNOFILE in systemd, --ulimit nofile in Docker), or lower UGS_MAX_CONNECTIONS`;
  if (limit < Math.min(wanted, MIN_FILES)) return failed(message, remedy);
  if (limit < wanted) return warning(message, remedy);
  return ok(message);
}
