// A file gets its name when it is whole and on the disk, so that a kill leaves no half of it under that name.

import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { atTheEnd } from './at-the-end.ts';

/** The file that is to be made is there. */
export class FileExists extends Error {
  override readonly name = 'FileExists';

  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is there already; name a new file`, options);
  }
}

/** Spares the work for a file that `publish` would refuse. Throws `FileExists`. */
export function refuseExisting(path: string): void {
  if (existsSync(path)) throw new FileExists(path);
}

/** What the file is called until it is whole. */
export function unfinishedNameOf(path: string): string {
  return `${path}.${process.pid}.new`;
}

/**
 * Makes it, empty and for its owner only. One that somebody else has put there is not written to: its maker could read
 * it.
 */
export function createUnfinished(unfinished: string): void {
  // A process that was killed may have had the same id, as the first of every container has.
  rmSync(unfinished, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600));
}

/** Takes files that are going to be made away at the end, also by a signal: half of an export holds tokens too. */
export function removeAtTheEnd(paths: readonly string[]): Disposable {
  return atTheEnd(() => {
    for (const path of paths) rmSync(path, { force: true });
  });
}

/** Gives the finished file its name beside the one it has. Throws `FileExists` where another one has it by now. */
export function publish(unfinished: string, path: string): void {
  sync(unfinished);
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new FileExists(path, { cause: error });
  }
  sync(dirname(path));
}

export function sync(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}
