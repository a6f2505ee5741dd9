// The database file, and the difference between its troubles and mistakes in the program.

import { closeSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreUnavailable } from '../store.ts';

/**
 * Primary result codes that speak of the file and not of the SQL: busy, locked, out of memory, read-only, I/O,
 * corrupt, full, cannot open, not a database.
 */
const FILE_CODES = new Set([5, 6, 7, 8, 10, 11, 13, 14, 26]);

/**
 * Makes the file, readable by its owner only, and its directory where they are missing. Returns the path without
 * symbolic links: a file has one lock, whatever name it is called by. Throws `StoreUnavailable`.
 */
export function makeFile(path: string): string {
  return guard(() => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    return realpathSync(path);
  });
}

/** Runs the work; a trouble of the file becomes `StoreUnavailable`. */
export function guard<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!isFileTrouble(error)) throw error;
    throw new StoreUnavailable(`SQLite: ${(error as Error).message}`, { cause: error });
  }
}

function isFileTrouble(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number };
  if (code === 'ERR_SQLITE_ERROR') return FILE_CODES.has((errcode ?? 0) & 0xff);
  return error instanceof Error && 'syscall' in error;
}
