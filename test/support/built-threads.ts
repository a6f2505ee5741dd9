// Starts the threads of a service from the build in the folder TEST_THREADS, if it is set: they load it in a third of the
// time that the sources take.

import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import threads, { type WorkerOptions } from 'node:worker_threads';

const SOURCES = new URL('../../src/', import.meta.url).href;
const { TEST_THREADS } = process.env;

if (TEST_THREADS) {
  const { Worker } = threads;
  const build = pathToFileURL(`${TEST_THREADS}/`).href;
  threads.Worker = class extends Worker {
    constructor(code: string | URL, options: WorkerOptions = {}) {
      const { thread } = options.workerData ?? {};
      const isSource = typeof thread === 'string' && thread.startsWith(SOURCES);
      if (isSource) options.workerData.thread = thread.replace(SOURCES, build).replace(/\.ts$/, '.js');
      super(code, options);
    }
  };
  syncBuiltinESMExports();
}
