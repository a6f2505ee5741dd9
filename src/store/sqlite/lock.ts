// One process serves a database file. The lock is a lock of SQLite itself on a file of its own, so the operating
// system gives it back however the process ends.

import { DatabaseSync } from 'node:sqlite';
import { codeOf, guard, makeFile, troubleOf } from './file.ts';

const BUSY = 5;

/** Another process serves the file. */
export class AlreadyServed extends Error {
  override readonly name = 'AlreadyServed';
}

/** Takes the lock, or throws `AlreadyServed` or `StoreUnavailable`. It is held until `close`. */
export function lockForServing(path: string): { close(): void } {
  const lockFile = makeFile(`${makeFile(path)}.lock`);
  const lock = guard(() => new DatabaseSync(lockFile, { timeout: 0 }));
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (codeOf(error) !== BUSY) throw troubleOf(error);
    throw new AlreadyServed(
      `another process serves ${path}; stop it first, or use PostgreSQL, which many processes can serve`,
      { cause: error },
    );
  }
  return { close: () => lock.close() };
}
