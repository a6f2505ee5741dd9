// The database file: creation, identity, syncing and space.

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fsyncPath } from '../../../system/atomic-file.ts';
import { StoreUnavailable } from '../../port.ts';
import { guard, isDiskFull } from './file-error.ts';

/** Files that SQLite keeps beside a database. Those of another database would destroy it. */
export const COMPANIONS = ['-journal', '-wal', '-shm'];
const CHUNK_BYTES = 262_144;
/** Place of the number that says whether the file is used with a write-ahead log (https://sqlite.org/fileformat.html, 1.3.3). */
const FORMAT_OFFSET = 18;
const WITHOUT_LOG = 1;
/** Bytes that a disk must accept to count as writable: several changes of the largest size. */
const REQUIRED_FREE_BYTES = 1_048_576;

/**
 * Creates the file, readable by its owner only, and its directory if they are missing. Returns the path without
 * symbolic links, so that a file has one lock whatever path leads to it. Throws `StoreUnavailable`.
 */
export function makeFile(path: string): string {
  return guard(() => {
    makeDirectory(dirname(resolve(path)));
    makeEmpty(path);
    requireRegularFile(path);
    refuseHardLink(path);
    refuseForeignLog(path);
    return realpathSync(path);
  });
}

/**
 * Returns the path, without symbolic links, of a new file; creates its directory. Throws `StoreUnavailable`.
 */
export function futurePath(path: string): string {
  const directory = dirname(resolve(path));
  return guard(() => {
    makeDirectory(directory);
    return join(realpathSync(directory), basename(path));
  });
}

/** Throws `StoreUnavailable`. */
export function requireRegularFile(path: string): void {
  const stat = statSync(path);
  if (stat.isFile()) return;
  throw new StoreUnavailable(
    stat.isDirectory()
      ? `SQLite: ${path} is a directory: name a file in it, such as ${join(path, 'user-groups.db')}`
      : `SQLite: ${path} is not a regular file`,
  );
}

/**
 * Throws `StoreUnavailable`: each hard link would have its own lock and log
 * (https://sqlite.org/howtocorrupt.html, 2.4).
 */
export function refuseHardLink(path: string): void {
  const { nlink, dev, ino } = statSync(path);
  if (nlink <= 1) return;
  // The other name is usually beside it, as after a backup that was killed at its last step.
  const other = readdirSync(dirname(path))
    .map((name) => join(dirname(path), name))
    .find((name) => {
      const stat = lstatSync(name, { throwIfNoEntry: false });
      return stat?.dev === dev && stat.ino === ino && name !== join(path);
    });
  throw new StoreUnavailable(
    `SQLite: ${path} has another name too, a hard link ${other ?? 'in another directory'}, by which ` +
      'another process could serve it: remove one of them',
  );
}

/**
 * Throws `StoreUnavailable` if the log beside the file is that of another one, which SQLite would copy into this one.
 * SQLite marks a file before it creates a log, and `backup` removes the mark, so a file without it has no log of its
 * own. Call this before the process opens the database, because closing the file releases all locks of the process on
 * it (https://sqlite.org/howtocorrupt.html, 2.2).
 */
export function refuseForeignLog(path: string): void {
  // SQLite follows a symbolic link, and keeps the log beside the file.
  const file = realpathSync(path);
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0 || !isWithoutLog(file)) return;
  throw new StoreUnavailable(
    `SQLite: ${file} is a backup, and ${file}-wal is the log of the database that it replaced: move ${file}-wal and ${file}-shm away`,
  );
}

function isWithoutLog(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const format = Buffer.alloc(1);
    readSync(file, format, 0, 1, FORMAT_OFFSET);
    return format[0] === WITHOUT_LOG;
  } finally {
    closeSync(file);
  }
}

/**
 * Does not open an existing file: closing it would release all locks of this process on it, those of SQLite included
 * (https://sqlite.org/howtocorrupt.html, 2.2).
 */
function makeEmpty(path: string): void {
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  else closeSync(openSync(path, 'a', 0o600));
}

/**
 * SQLite syncs the directory of its file, so that the file's name survives a power cut. New parent directories are
 * synced here. Not `mkdirSync` with `recursive`, which never returns if a file system, such as /proc, accepts no names.
 */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  fsyncPath(dirname(path));
}

/** Returns device and inode, which distinguish the file from a later one of the same name. */
export function fileIdentity(path: string): string {
  const { dev, ino } = guard(() => statSync(path, { bigint: true }));
  return `${dev}/${ino}`;
}

/**
 * Throws `StoreUnavailable` if the path no longer leads to that file: changes to a file that was moved away would be
 * lost.
 */
export function refuseAnother(path: string, identity: string): void {
  if (fileIdentity(path) === identity) return;
  // SQLite leaves the log of a replaced file in place, and at the next start would copy it into the new file.
  throw new StoreUnavailable(
    `SQLite: ${path} was replaced after the service opened it: stop the service, move ${path}-wal and ${path}-shm of the replaced file away, and start it`,
  );
}

/**
 * Writes the contents of the file again and syncs it. A sync alone is not enough after a failed one: Linux marks the
 * pages as clean although they were not written, so the next sync does nothing.
 */
export function rewrite(path: string): void {
  const file = openSync(path, 'r+');
  try {
    writeAgain(file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function writeAgain(file: number): void {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    for (let at = 0, length = 0; ; at += writeSync(file, chunk, 0, length, at)) {
      length = readSync(file, chunk, 0, CHUNK_BYTES, at);
      if (length === 0) return;
    }
  } catch (error) {
    // Some file systems need new space to overwrite in place. On a full disk the service still reads.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Whether the file system reports free space. That ignores quotas and reusable space inside the log. */
export function reportsFreeSpace(path: string): boolean {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize >= REQUIRED_FREE_BYTES;
}

/** Whether the disk accepts data, tested with a file beside the database. */
export function acceptsData(path: string): boolean {
  try {
    writeScratch(`${path}.scratch`);
    return true;
  } catch (error) {
    // Other failures of a new file need not affect the database.
    return !isDiskFull(error);
  }
}

/** Unlinks the file before writing, so that a kill leaves nothing behind. */
function writeScratch(path: string): void {
  rmSync(path, { force: true });
  const file = openSync(path, 'wx', 0o600);
  try {
    rmSync(path);
    const zeros = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0; at < REQUIRED_FREE_BYTES; ) at += writeSync(file, zeros, 0, CHUNK_BYTES, at);
  } finally {
    closeSync(file);
  }
}
