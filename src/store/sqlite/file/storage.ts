// The disk that a database file is on, and when the file was backed up.

import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { realpath, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileStorage } from '../../port.ts';

/** The file's modification time is that of the last backup, so other programs record backups with `touch`. */
function backupRecordPath(file: string): string {
  return `${file}.last-backup`;
}

/** Records that the database has been backed up now. Throws Node's error if the record cannot be written. */
export function recordBackup(path: string): void {
  const record = backupRecordPath(realpathSync(path));
  // A record that root wrote can be replaced, but not overwritten.
  rmSync(record, { force: true });
  writeFileSync(record, `${new Date().toISOString()}\n`, { mode: 0o600 });
}

/** Throws Node's error if the file or its disk cannot be read. */
export async function measureStorage(path: string): Promise<FileStorage> {
  const file = await realpath(path);
  const [database, log, disk, backup] = await Promise.all([
    stat(file),
    statIfExists(`${file}-wal`),
    statfs(dirname(file)),
    statIfExists(backupRecordPath(file)),
  ]);
  return {
    databaseBytes: database.size,
    logBytes: log?.size ?? 0,
    diskFreeBytes: disk.bavail * disk.bsize,
    backedUpAt: backup?.mtimeMs ?? null,
  };
}

function statIfExists(path: string): Promise<{ size: number; mtimeMs: number } | null> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}
