// One process serves a database file. The lock is an SQLite lock on a separate file, so the operating system releases
// it however the process ends.

import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileIdentity, futurePath, makeFile } from './file.ts';
import { asStoreError, guard, sqliteErrorCode } from './file-error.ts';

const BUSY = 5;
/** Locks of the processes of this machine on Linux, of which a container sees only its own. */
const LOCKS = '/proc/locks';
/** First byte of a lock of SQLite, whatever the size of the file (https://sqlite.org/fileformat.html, 1.6). */
const PENDING_BYTE = 2 ** 30;

/** Another process is serving the file. */
export class AlreadyServed extends Error {
  override readonly name = 'AlreadyServed';
}

/** Takes the lock until `close`. Throws `AlreadyServed` or `StoreUnavailable`. */
export function lockForServing(path: string): { close(): void } {
  return takeLock(path, makeFile(path));
}

/**
 * Takes the lock of a file that does not exist yet; `close` removes the lock file, unless it existed before. Throws
 * `AlreadyServed` or `StoreUnavailable`.
 */
export function lockForCreating(path: string): { close(): void } {
  const realPath = futurePath(path);
  const isNew = !existsSync(lockFilePath(realPath));
  const lock = takeLock(path, realPath);
  return {
    close: () => {
      if (isNew) rmSync(lockFilePath(realPath), { force: true });
      lock.close();
    },
  };
}

/** `realPath` has no symbolic links. */
export function lockFilePath(realPath: string): string {
  return `${realPath}.lock`;
}

function takeLock(path: string, realPath: string): { close(): void } {
  const lockFile = makeFile(lockFilePath(realPath));
  const identity = fileIdentity(lockFile);
  const lock = guard(() => new DatabaseSync(lockFile, { timeout: 0 }), lockFile);
  try {
    lock.exec('begin exclusive');
    refuseRemoved(lockFile, identity, path);
  } catch (error) {
    lock.close();
    throw sqliteErrorCode(error) === BUSY
      ? alreadyServed(path + ownerOf(lockFile), error)
      : asStoreError(error, lockFile);
  }
  return { close: () => lock.close() };
}

/** A restore may just have removed the file: another process could then lock a new one of its name. */
function refuseRemoved(lockFile: string, identity: string, path: string): void {
  if (!existsSync(lockFile) || fileIdentity(lockFile) !== identity) throw alreadyServed(path);
}

/** Returns the id of the process that has the lock, if the system tells it. */
function ownerOf(lockFile: string): string {
  // A restore may just have removed the file.
  const inode = statSync(lockFile, { bigint: true, throwIfNoEntry: false })?.ino;
  try {
    const locks = readFileSync(LOCKS, 'utf8');
    const pid = new RegExp(`WRITE (\\d+) \\S+:${inode} ${PENDING_BYTE} `).exec(locks)?.[1];
    return pid === undefined ? '' : ` (process ${pid})`;
  } catch {
    // Another system, or one that does not allow it.
    return '';
  }
}

function alreadyServed(path: string, cause?: unknown): AlreadyServed {
  const message = `another process is serving ${path}; stop it first, or use PostgreSQL, which many processes can share`;
  return new AlreadyServed(message, { cause });
}
