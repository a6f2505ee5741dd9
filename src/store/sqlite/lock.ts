// One process serves a database file. The lock is a lock of SQLite itself on a file of its own, so the operating
// system gives it back however the process ends.

import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another process serves the file. */
export class AlreadyServed extends Error {
  override readonly name = 'AlreadyServed';
}

/** Takes the lock, or throws `AlreadyServed`. It is held until `close`. */
export function lockForServing(path: string): { close(): void } {
  const lockPath = `${path}.lock`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(lockPath, 'a', 0o600));
  const lock = new DatabaseSync(lockPath, { timeout: 0 });
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== 5) throw error;
    throw new AlreadyServed(
      `another process serves ${path}; stop it first, or use PostgreSQL, which many processes can serve`,
      { cause: error },
    );
  }
  return { close: () => lock.close() };
}
