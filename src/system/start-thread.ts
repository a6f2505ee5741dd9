// Starts a worker thread from a file of this project.

import { getAsset, isSea } from 'node:sea';
import { isMainThread, Worker, type WorkerOptions } from 'node:worker_threads';

/** The files that run in threads of their own: paths from the folder of the code, without their extension. */
export const THREAD_FILES = [
  'operations/property-schema/validator/thread',
  'store/sqlite/schema/check-thread',
  'store/sqlite/writer/checkpointer-thread',
  'store/sqlite/writer/writer-thread',
  'threads/serving-thread',
] as const;
export type ThreadFile = (typeof THREAD_FILES)[number];

/** Asset of the single executable: the same code as its main script, which runs the file that `workerData` names. */
export const THREAD_CODE = 'thread.js';

/** Enables the compile cache, as the executable does: without it, a clone loads the type stripper again (12 MB). */
const WITH_COMPILE_CACHE = `
  require('node:module').enableCompileCache?.();
  import(require('node:worker_threads').workerData.thread);
`;

export function startThread(file: ThreadFile, { workerData = {}, ...options }: WorkerOptions = {}): Worker {
  if (isMainThread) leaveDeletedDirectory();
  const [code, thread] = isSea()
    ? [getAsset(THREAD_CODE, 'utf8'), file]
    : [WITH_COMPILE_CACHE, moduleUrl(file)];
  return new Worker(code, { ...options, eval: true, workerData: { ...workerData, thread } });
}

/**
 * Leaves the working directory if it was deleted: Node could not start a thread in it. Not earlier, because
 * relative paths, such as that of a certificate, are read for each connection. Only the main thread can
 * change the directory; it restarts a thread that failed to start another.
 */
function leaveDeletedDirectory(): void {
  try {
    process.chdir(process.cwd());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') process.chdir('/');
  }
}

/** A clone runs .ts files, the package .js files. */
function moduleUrl(file: ThreadFile): string {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return new URL(`../${file}${extension}`, import.meta.url).href;
}
