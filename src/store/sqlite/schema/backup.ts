// Online backup: a consistent copy of the database file, made while a service writes to it.

import { resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import {
  createTemporaryFile,
  linkIntoPlace,
  refuseExistingFile,
  removeOnExit,
  temporaryPath,
} from '../../../system/atomic-file.ts';
import { StoreUnavailable } from '../../port.ts';
import { asStoreError, guard, requireRegularFile, sqliteErrorCode } from '../file/file.ts';

/** 4 MB: short enough for a progress bar that moves. */
const PAGES_A_STEP = 1_024;
const BUSY_TIMEOUT_MS = 5_000;
/** `SQLITE_ERROR`, the generic code for errors in a statement. */
const NO_SUCH_TABLE = 1;
const FULL = 13;

/**
 * Copies the database at `path` to the new file `to`, which appears only once it is complete, checked and synced;
 * returns the number of its user groups. Changes nothing in the database, not even its schema. Throws
 * `FileExists` and `StoreUnavailable`.
 */
export async function backupFile(
  path: string,
  to: string,
  onProgress: (pages: number, total: number) => void,
): Promise<number> {
  refuseExistingFile(to);
  guard(() => requireRegularFile(path));
  // Absolute, because SQLite treats a path that begins with "file:" as a URI.
  const unfinished = temporaryPath(resolve(to));
  using _removal = removeOnExit(['', '-journal', '-wal', '-shm'].map((suffix) => unfinished + suffix));
  createUnfinished(unfinished, to);
  await copyPages(resolve(path), unfinished, onProgress);
  const userGroups = guard(() => check(unfinished));
  guard(() => linkIntoPlace(unfinished, to));
  return userGroups;
}

/** The error names the backup, because the database is not the file that fails. Throws `StoreUnavailable`. */
function createUnfinished(unfinished: string, to: string): void {
  try {
    createTemporaryFile(unfinished);
  } catch (error) {
    throw new StoreUnavailable(`cannot create ${to}: ${(error as Error).message}`, { cause: error });
  }
}

async function copyPages(
  path: string,
  to: string,
  onProgress: (pages: number, total: number) => void,
): Promise<void> {
  using database = guard(() => new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS }));
  try {
    // One snapshot for all steps: without it, each commit of the service would restart the backup.
    database.exec('begin; select 1 from user_groups limit 1');
    const pages = await backup(database, to, {
      rate: PAGES_A_STEP,
      progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
    });
    // The last step is not reported.
    onProgress(pages, pages);
  } catch (error) {
    const code = sqliteErrorCode(error);
    // Reading needs no space: the disk of the backup is full, not that of the database.
    if (code === FULL)
      throw new StoreUnavailable('cannot write the backup: its disk is full', { cause: error });
    throw code === NO_SUCH_TABLE ? noUserGroups(path) : asStoreError(error);
  }
}

function noUserGroups(path: string): StoreUnavailable {
  return new StoreUnavailable(`SQLite: ${path} has no table of user groups`);
}

function check(file: string): number {
  using database = new DatabaseSync(file);
  const found = String(database.prepare('pragma quick_check').get()?.quick_check);
  if (found !== 'ok') {
    throw new StoreUnavailable(
      `SQLite: the backup is corrupt, and the database may be too: ${found.replaceAll('\n', ' ')}`,
    );
  }
  return database.prepare('select count(*) as count from user_groups').get()?.count as number;
}
