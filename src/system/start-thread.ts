// Starts a worker thread from a file of this project.

import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Enables the compile cache, as the executable does: without it, a clone loads the type stripper again (12 MB). */
const WITH_COMPILE_CACHE = `
  require('node:module').enableCompileCache?.();
  import(require('node:worker_threads').workerData.thread);
`;

/**
 * `name`: the file beside the caller's, whose `import.meta.url` is `caller`, without its extension: .ts in a clone, .js
 * in the package.
 */
export function startThread(
  caller: string,
  name: string,
  { workerData = {}, ...options }: WorkerOptions = {},
): Worker {
  const extension = caller.slice(caller.lastIndexOf('.'));
  const thread = new URL(`./${name}${extension}`, caller).href;
  return new Worker(WITH_COMPILE_CACHE, { ...options, eval: true, workerData: { ...workerData, thread } });
}
