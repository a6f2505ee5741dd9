// Online backup: a consistent copy of the database file, made while a service writes to it.

import { resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import {
  FileExists,
  linkIntoPlace,
  refuseExistingFile,
  unfinishedFile,
} from '../../../system/atomic-file.ts';
import { deliverSignals, finish } from '../../../system/on-exit.ts';
import { StoreUnavailable } from '../../port.ts';
import { BUSY_TIMEOUT_MS } from '../file/connection.ts';
import { COMPANIONS, refuseForeignLog, requireRegularFile } from '../file/file.ts';
import { asStoreError, FULL, guard, sqliteErrorCode } from '../file/file-error.ts';
import { findCorruption } from './check.ts';

/** 4 MB: small enough for a progress bar that moves. */
const PAGES_A_STEP = 1_024;
/** `SQLITE_ERROR`, the generic code for errors in a statement. */
const NO_SUCH_TABLE = 1;

/** The file of the backup cannot be written. */
export class BackupUnwritable extends Error {
  override readonly name = 'BackupUnwritable';

  constructor(file: string, cause: unknown, reason = (cause as Error).message) {
    super(`cannot write ${file}: ${reason}`, { cause });
  }
}

/**
 * Copies the database at `path` to the new file `to`, which appears only once it is complete, checked and synced;
 * returns the number of its user groups. Changes nothing in the database, not even its schema. Throws
 * `FileExists`, `BackupUnwritable` and `StoreUnavailable`.
 */
export async function backupFile(
  path: string,
  to: string,
  onProgress: (pages: number, total: number) => void,
): Promise<number> {
  refuseExistingFile(to);
  guard(() => {
    requireRegularFile(path);
    refuseForeignLog(path);
  });
  // Absolute, because SQLite treats a path that begins with "file:" as a URI.
  using file = write(to, () => unfinishedFile(resolve(to), COMPANIONS));
  const { path: unfinished } = file;
  await copyPages(resolve(path), { unfinished, to }, onProgress);
  await check(unfinished);
  const userGroups = guard(() => countUserGroups(unfinished));
  await deliverSignals();
  write(to, () => linkIntoPlace(unfinished, to));
  return userGroups;
}

/** Throws `FileExists` and `BackupUnwritable`. */
function write<Result>(to: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof FileExists ? error : new BackupUnwritable(to, error);
  }
}

async function copyPages(
  path: string,
  { unfinished, to }: { unfinished: string; to: string },
  onProgress: (pages: number, total: number) => void,
): Promise<void> {
  using database = guard(() => new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS }), path);
  try {
    // One snapshot for all steps: without it, each commit of the service would restart the backup.
    database.exec('begin; select 1 from user_groups limit 1');
    // Steps run in another thread, which may create the journal.
    const pages = await finish((hasSignal) =>
      backup(database, unfinished, {
        rate: PAGES_A_STEP,
        progress: ({ totalPages, remainingPages }) => {
          if (hasSignal()) throw new Error('interrupted by a signal');
          onProgress(totalPages - remainingPages, totalPages);
        },
      }),
    );
    // The last step is not reported.
    onProgress(pages, pages);
    removeLogMark(unfinished);
  } catch (error) {
    const code = sqliteErrorCode(error);
    // Reading needs no space: the disk of the backup is full, not that of the database.
    if (code === FULL) throw new BackupUnwritable(to, error, 'the disk is full');
    throw code === NO_SUCH_TABLE ? noUserGroups(path) : asStoreError(error, path);
  }
}

/** See `refuseForeignLog`. */
function removeLogMark(unfinished: string): void {
  using copy = new DatabaseSync(unfinished);
  copy.exec('pragma journal_mode = delete');
}

function noUserGroups(path: string): StoreUnavailable {
  return new StoreUnavailable(`SQLite: ${path} has no table of user groups`);
}

async function check(file: string): Promise<void> {
  const corruption = await findCorruption(file, 'quick_check(1)').catch((error) => {
    throw asStoreError(error);
  });
  if (corruption !== null)
    throw new StoreUnavailable(`SQLite: the backup is corrupt, and the database may be too: ${corruption}`);
}

function countUserGroups(file: string): number {
  using database = new DatabaseSync(file);
  return database.prepare('select count(*) as count from user_groups').get()?.count as number;
}
