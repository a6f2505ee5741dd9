// A copy of the database file, whole and of one moment, made while a service writes to it.

import { resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import {
  createUnfinished,
  publish,
  refuseExisting,
  removeAtTheEnd,
  unfinishedNameOf,
} from '../../publish.ts';
import { StoreUnavailable } from '../store.ts';
import { codeOf, guard, troubleOf } from './file.ts';

/** 4 MB: short enough for a progress bar that moves. */
const PAGES_A_STEP = 1_024;
const BUSY_TIMEOUT_MS = 5_000;
/** The code that SQLite has for every mistake in a statement. */
const NO_SUCH_TABLE = 1;

/**
 * Copies the database at `path` to the new file `to`, which is there only when it is whole, checked and on the
 * disk; returns the number of its user groups. Changes nothing in the database, its schema neither. Throws
 * `FileExists` and `StoreUnavailable`.
 */
export async function backupFile(
  path: string,
  to: string,
  onProgress: (pages: number, of: number) => void,
): Promise<number> {
  refuseExisting(to);
  // SQLite takes a path that begins with "file:" for a URI.
  const unfinished = unfinishedNameOf(resolve(to));
  using _removal = removeAtTheEnd(['', '-journal', '-wal', '-shm'].map((suffix) => unfinished + suffix));
  guard(() => createUnfinished(unfinished));
  await copyPages(resolve(path), unfinished, onProgress);
  const userGroups = guard(() => check(unfinished));
  guard(() => publish(unfinished, to));
  return userGroups;
}

async function copyPages(
  path: string,
  to: string,
  onProgress: (pages: number, of: number) => void,
): Promise<void> {
  const database = guard(() => new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS }));
  try {
    // One snapshot for all steps: without it, each commit of the service would start the copy from the beginning.
    database.exec('begin; select 1 from user_groups limit 1');
    const pages = await backup(database, to, {
      rate: PAGES_A_STEP,
      progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
    });
    // The last step is not reported.
    onProgress(pages, pages);
  } catch (error) {
    throw codeOf(error) === NO_SUCH_TABLE ? holdsNone(path) : troubleOf(error);
  } finally {
    database.close();
  }
}

function holdsNone(path: string): StoreUnavailable {
  return new StoreUnavailable(`SQLite: ${path} holds no user groups`);
}

function check(file: string): number {
  const database = new DatabaseSync(file);
  try {
    const found = String(database.prepare('pragma quick_check').get()?.quick_check);
    if (found !== 'ok') {
      throw new StoreUnavailable(
        `SQLite: the backup is damaged, as the database may be: ${found.replaceAll('\n', ' ')}`,
      );
    }
    return database.prepare('select count(*) as count from user_groups').get()?.count as number;
  } finally {
    database.close();
  }
}
