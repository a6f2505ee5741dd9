// Errors of the database file: which of them are failures of the file rather than bugs, and their remedies.

import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { StoreUnavailable } from '../../port.ts';

/**
 * Primary result codes about the file rather than the SQL: busy, locked, out of memory, read-only, I/O error, corrupt,
 * full, cannot open, locking protocol, not a database.
 */
const FILE_CODES = new Set([5, 6, 7, 8, 10, 11, 13, 14, 15, 26]);

/** SQLITE_FULL */
export const FULL = 13;

/** Remedies by primary result code. SQLite's messages do not name the file. */
const REMEDIES: Partial<Record<number, (path: string) => string>> = {
  8: makeWritable,
  11: (path) => `keep a copy of ${path} and restore a backup`,
  [FULL]: (path) => `free space on the disk of ${path}`,
  14: (path) => lackOfFiles() ?? makeWritable(path),
  26: (path) => `if ${path} is another kind of file, name that of the database; otherwise restore a backup`,
};

/** Node's codes of refused access. Their messages name the file. */
const REFUSED_CODES: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);
const GRANT_ACCESS =
  'it and its directory must be readable and writable for this user, on a disk that is not mounted read-only';
/** Node's codes of a full disk or quota. */
const FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** SQLITE_IOERR_FSYNC */
const FAILED_SYNC = 1034;
/** SQLITE_IOERR_SHMSIZE: the `-shm` file could not be extended, for which SQLite has no code of a full disk. */
const FAILED_EXTENSION = 4874;

/** Runs `work`; a failure of the file at `path` becomes `StoreUnavailable`. */
export function guard<Result>(work: () => Result, path?: string): Result {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error, path);
  }
}

/** A failure of the file as `StoreUnavailable`; any other error unchanged. */
export function asStoreError(error: unknown, path?: string): unknown {
  const code = sqliteErrorCode(error);
  const isFileError = code === null ? error instanceof Error && 'syscall' in error : FILE_CODES.has(code);
  if (!isFileError) return error;
  const message = [(error as Error).message, remedyFor(error, path)].filter(Boolean).join(': ');
  return new StoreUnavailable(`SQLite: ${message}`, { cause: error });
}

function remedyFor(error: unknown, path: string | undefined): string | undefined {
  const isFull = isDiskFull(error) || (error as { errcode?: number }).errcode === FAILED_EXTENSION;
  const code = isFull ? FULL : sqliteErrorCode(error);
  if (code === null) return REFUSED_CODES.has(nodeCode(error)) ? GRANT_ACCESS : undefined;
  return path === undefined ? undefined : REMEDIES[code]?.(path);
}

/** Whether an error of Node says that a disk or a quota is full. */
export function isDiskFull(error: unknown): boolean {
  return FULL_CODES.has(nodeCode(error));
}

function nodeCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** Node's error if the process has no file descriptor left, for which SQLite has no code of its own. */
function lackOfFiles(): string | null {
  try {
    closeSync(openSync(devNull, 'r'));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function makeWritable(path: string): string {
  return `${path}, its -wal and -shm files and their directory must be writable for this user, on a disk that is not mounted read-only`;
}

/** Whether the cause of a `StoreUnavailable` is a sync that failed. */
export function isFailedSync(error: unknown): boolean {
  const { errcode, syscall } = ((error as Error).cause ?? {}) as { errcode?: number; syscall?: string };
  return errcode === FAILED_SYNC || syscall === 'fsync';
}

/** The primary result code of SQLite; null if the error is not from SQLite. */
export function sqliteErrorCode(error: unknown): number | null {
  const { code, errcode } = error as { code?: string; errcode?: number };
  return code === 'ERR_SQLITE_ERROR' ? (errcode ?? 0) & 0xff : null;
}
