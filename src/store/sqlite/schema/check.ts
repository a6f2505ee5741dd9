// Checks a file in a thread, so that a signal ends the process meanwhile: a call of SQLite cannot be interrupted.

import { on } from 'node:events';
import { finish } from '../../../system/on-exit.ts';
import { startThread } from '../../../system/start-thread.ts';
import type { CheckReply, FileToCheck } from './check-thread.ts';

/**
 * Returns the first corruption; null if the file is intact. `file` is an absolute path. Throws errors of SQLite.
 */
export async function findCorruption(file: string, check: FileToCheck['check']): Promise<string | null> {
  const workerData: FileToCheck = { file, check };
  const replies = on(startThread('store/sqlite/schema/check-thread', { workerData }), 'message');
  // Opening creates files, which a clean-up would miss.
  await finish(() => replies.next());
  const [reply] = (await replies.next()).value as [Exclude<CheckReply, 'opened'>];
  return reply.corruption;
}
