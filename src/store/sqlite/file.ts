// The database file, and the difference between its troubles and mistakes in the program.

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StoreUnavailable } from '../store.ts';

/**
 * Primary result codes that speak of the file and not of the SQL: busy, locked, out of memory, read-only, I/O,
 * corrupt, full, cannot open, no lock to be had, not a database.
 */
const FILE_CODES = new Set([5, 6, 7, 8, 10, 11, 13, 14, 15, 26]);

const CHUNK_BYTES = 262_144;

/**
 * Makes the file, readable by its owner only, and its directory where they are missing. Returns the path without
 * symbolic links: a file has one lock, whatever name it is called by. Throws `StoreUnavailable`.
 */
export function makeFile(path: string): string {
  return guard(() => {
    makeDirectory(dirname(resolve(path)));
    makeEmpty(path);
    refuseHardLink(path);
    return realpathSync(path);
  });
}

/** Each name of a file would have a lock and a log of its own (https://sqlite.org/howtocorrupt.html, 2.4). */
function refuseHardLink(path: string): void {
  if (statSync(path).nlink <= 1) return;
  throw new StoreUnavailable(
    `SQLite: ${path} has another name too, a hard link, by which another process could serve it: take one of them away`,
  );
}

/**
 * A file that is there is not opened: closing it would take away all locks of this process on it, those of SQLite
 * too (https://sqlite.org/howtocorrupt.html, 2.2).
 */
function makeEmpty(path: string): void {
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  else closeSync(openSync(path, 'a', 0o600));
}

/**
 * SQLite syncs the directory that its file is in, so that the file has its name after a power cut. The name of that
 * directory stands in the one above it.
 */
function makeDirectory(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made !== dirname(first); made = dirname(made)) syncDirectory(dirname(made));
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  fsyncSync(directory);
  closeSync(directory);
}

/** Tells the file from another one that has its name later. */
export function identityOf(path: string): string {
  const { dev, ino } = guard(() => statSync(path, { bigint: true }));
  return `${dev}/${ino}`;
}

/**
 * Throws `StoreUnavailable` where the path does not lead to that file any more: what is written to one that was moved
 * away is lost to whoever opens the path.
 */
export function refuseAnother(path: string, identity: string): void {
  if (identityOf(path) === identity) return;
  throw new StoreUnavailable(
    `SQLite: ${path} is not the file that the service has opened: restart the service`,
  );
}

/**
 * Writes what the file holds once more, and syncs it. A sync alone would not do where an earlier one has failed: Linux
 * takes for written what it could not write, and has nothing left to do at the next sync.
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
    // Some file systems take new room for what is written in place. A full disk is served without.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Runs the work; a trouble of the file becomes `StoreUnavailable`. */
export function guard<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw troubleOf(error);
  }
}

/** The error as `StoreUnavailable` where it is a trouble of the file, else as it is. */
export function troubleOf(error: unknown): unknown {
  const code = codeOf(error);
  const isTrouble = code === null ? error instanceof Error && 'syscall' in error : FILE_CODES.has(code);
  return isTrouble ? new StoreUnavailable(`SQLite: ${(error as Error).message}`, { cause: error }) : error;
}

/** The primary result code of SQLite; null where it has not given the error. */
export function codeOf(error: unknown): number | null {
  const { code, errcode } = error as { code?: string; errcode?: number };
  return code === 'ERR_SQLITE_ERROR' ? (errcode ?? 0) & 0xff : null;
}
