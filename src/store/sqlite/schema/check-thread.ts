// The check thread: reads the complete file in one call of SQLite.

import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { BUSY_TIMEOUT_MS } from '../file/connection.ts';

export interface FileToCheck {
  file: string;
  /** `quick_check` does not compare indexes with their tables. */
  check: 'quick_check(1)' | 'integrity_check(1)';
}

/** The file is open, then the first corruption; null if there is none. */
export type CheckReply = 'opened' | { corruption: string | null };

const { file, check } = workerData as FileToCheck;

parentPort!.postMessage({ corruption: findCorruption() } satisfies CheckReply);

function findCorruption(): string | null {
  using database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  // Opens the file, also the log that belongs to it.
  const statement = database.prepare(`pragma ${check}`);
  parentPort!.postMessage('opened' satisfies CheckReply);
  const found = String(Object.values(statement.get()!)[0]);
  return found === 'ok' ? null : found.replaceAll('\n', ' ');
}
