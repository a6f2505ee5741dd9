// One process serves a database file. The lock is an SQLite lock on a separate file, so the operating system releases
// it however the process ends.

import { DatabaseSync } from 'node:sqlite';
import { asStoreError, codeOf, futurePath, guard, makeFile } from './file.ts';

const BUSY = 5;

/** Another process is serving the file. */
export class AlreadyServed extends Error {
  override readonly name = 'AlreadyServed';
}

/** Takes the lock until `close`. Throws `AlreadyServed` or `StoreUnavailable`. */
export function lockForServing(path: string): { close(): void } {
  return takeLock(path, makeFile(path));
}

/** Takes the lock of a file that does not exist yet. Throws `AlreadyServed` or `StoreUnavailable`. */
export function lockForCreating(path: string): { close(): void } {
  return takeLock(path, futurePath(path));
}

/** `realPath` has no symbolic links. */
function takeLock(path: string, realPath: string): { close(): void } {
  const lockFile = makeFile(`${realPath}.lock`);
  const lock = guard(() => new DatabaseSync(lockFile, { timeout: 0 }));
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (codeOf(error) !== BUSY) throw asStoreError(error);
    throw new AlreadyServed(
      `another process is serving ${path}; stop it first, or use PostgreSQL, which many processes can share`,
      { cause: error },
    );
  }
  return { close: () => lock.close() };
}
