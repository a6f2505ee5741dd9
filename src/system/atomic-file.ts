// Atomic file creation: a file is written under a temporary name, synced to disk, and only then linked to its final
// name, so that a crash never leaves a partial file under that name.

import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { onExit } from './on-exit.ts';

/** The file to create already exists. */
export class FileExists extends Error {
  override readonly name = 'FileExists';

  constructor(
    path: string,
    { remedy = 'name a new file', ...options }: ErrorOptions & { remedy?: string } = {},
  ) {
    super(`${path} already exists; ${remedy}`, options);
  }
}

/** Fails before any work is done if `linkIntoPlace` would fail. Throws `FileExists`. */
export function refuseExistingFile(path: string): void {
  if (existsSync(path)) throw new FileExists(path);
}

interface UnfinishedFile extends Disposable {
  /** The name of the file until it is complete. */
  readonly path: string;
}

/**
 * Creates an empty file that only its owner can read. Never opens an existing file: another user could have created it
 * in order to read the secret. Removed when disposed or by a signal, because a partial export may contain tokens, and
 * so are the files with these suffixes.
 */
export function unfinishedFile(path: string, suffixes: readonly string[] = []): UnfinishedFile {
  const unfinished = `${path}.${process.pid}.new`;
  // A process that was killed may have had the same process id, as the first process of every container does.
  rmSync(unfinished, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600));
  const removal = onExit(() => {
    for (const suffix of ['', ...suffixes]) rmSync(unfinished + suffix, { force: true });
  });
  return { ...removal, path: unfinished };
}

/**
 * Links the finished file to its final name and removes the temporary one at once: a database that has both
 * names after a kill would not be served. Throws `FileExists` if the name is taken.
 */
export function linkIntoPlace(unfinished: string, path: string): void {
  fsyncPath(unfinished);
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new FileExists(path, { cause: error });
  }
  rmSync(unfinished);
  fsyncPath(dirname(path));
}

/** `moveIntoPlace` runs once the file is completely written, so that a kill never leaves a partial file at `path`. */
export function writeAtomically(
  path: string,
  write: (unfinished: string) => void,
  moveIntoPlace: (unfinished: string, path: string) => void,
): void {
  using unfinished = unfinishedFile(path);
  write(unfinished.path);
  moveIntoPlace(unfinished.path, path);
}

/** If two processes or requests create the file concurrently, all use the one that was created first. */
export function createUnlessExists(path: string, write: (unfinished: string) => void): void {
  try {
    writeAtomically(path, write, linkIntoPlace);
  } catch (error) {
    if (!(error instanceof FileExists)) throw error;
  }
}

/** `path` may also name a directory, which makes the creation and renaming of its files durable. */
export function fsyncPath(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}
