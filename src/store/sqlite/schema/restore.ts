// Restores a backup: copies it to the path of a database that does not exist, checks the copy, and only then gives it
// the name of the database.

import { createReadStream, createWriteStream, existsSync, lstatSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { FileExists, linkIntoPlace, unfinishedFile } from '../../../system/atomic-file.ts';
import { deliverSignals, onExit } from '../../../system/on-exit.ts';
import { COMPANIONS, futurePath, requireRegularFile } from '../file/file.ts';
import { asStoreError, guard, sqliteErrorCode } from '../file/file-error.ts';
import { lockForCreating } from '../file/lock.ts';
import { findCorruption } from './check.ts';
import { inspectFile, type SqliteInspection } from './inspect.ts';

const CHUNK_BYTES = 4_194_304;

/** The file is not an intact database of this service. */
export class BackupInvalid extends Error {
  override readonly name = 'BackupInvalid';
}

interface Restore {
  from: string;
  to: string;
  /** Throws if the copy must not be served. */
  verify: (inspection: SqliteInspection) => Promise<void>;
  onProgress: (bytes: number, total: number) => void;
}

/**
 * Throws `FileExists` if `to` or a file that belongs to it exists, `AlreadyServed`, `BackupInvalid`,
 * `SchemaTooNew` or `StoreUnavailable`; nothing was restored then.
 */
export async function restoreFile({ from, to, verify, onProgress }: Restore): Promise<void> {
  guard(() => requireRegularFile(from));
  refuseUnmergedLog(from);
  const lock = lockForCreating(to);
  using _lock = onExit(() => lock.close());
  const path = futurePath(to);
  refuseExisting(path);
  using file = guard(() => unfinishedFile(path, COMPANIONS), path);
  const { path: unfinished } = file;
  await copyBytes(from, unfinished, onProgress).catch((error) => {
    throw asStoreError(error, path);
  });
  await refuseCorrupt(unfinished, from);
  await inspectFile(unfinished, async (copy) => {
    await refuseInvalid(copy, from);
    await verify(copy);
  });
  await deliverSignals();
  guard(() => linkIntoPlace(unfinished, path));
}

/** A file that was used as a database may have its latest changes in its log. */
function refuseUnmergedLog(from: string): void {
  const log = `${from}-wal`;
  if (!existsSync(log) || statSync(log).size === 0) return;
  throw new BackupInvalid(
    `${log} has changes that ${from} lacks: the file is a database in use, not a backup; create one with "backup"`,
  );
}

function refuseExisting(path: string): void {
  for (const file of ['', ...COMPANIONS].map((suffix) => path + suffix)) {
    // Detects even a symbolic link to a file that does not exist.
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
      throw new FileExists(file, {
        remedy: `move every file whose name starts with ${path} to another directory first`,
      });
    }
  }
}

async function copyBytes(from: string, to: string, onProgress: Restore['onProgress']): Promise<void> {
  const { size } = statSync(from);
  const source = createReadStream(from, { highWaterMark: CHUNK_BYTES });
  const reported = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      yield chunk;
      onProgress(source.bytesRead, size);
    }
  };
  await pipeline(source, reported, createWriteStream(to, { flags: 'r+', flush: true }));
}

async function refuseCorrupt(copy: string, from: string): Promise<void> {
  const corruption = await findCorruption(copy, 'integrity_check(1)').catch((error) => {
    if (sqliteErrorCode(error) === null) throw error;
    // SQLite refuses to read a file whose header is damaged.
    return error.message as string;
  });
  if (corruption !== null) throw new BackupInvalid(`${from} is not an intact database: ${corruption}`);
}

async function refuseInvalid(copy: SqliteInspection, from: string): Promise<void> {
  if (!(await copy.isInitialized())) throw new BackupInvalid(`${from} is not a database of this service`);
  // Throws if this version could not serve it.
  await copy.pendingMigrations();
}
