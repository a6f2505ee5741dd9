// Main script of the single executable and of its threads. The release bundles it into one file without
// imports. In a clone and in the package, bin/user-group-service.js has this role.

import '../bin/signals.js';
import { isMainThread, workerData } from 'node:worker_threads';
import type { ThreadFile } from './system/start-thread.ts';

const threads: Record<ThreadFile, () => Promise<unknown>> = {
  'operations/property-schema/validator/thread': () =>
    import('./operations/property-schema/validator/thread.ts'),
  'store/sqlite/schema/check-thread': () => import('./store/sqlite/schema/check-thread.ts'),
  'store/sqlite/writer/checkpointer-thread': () => import('./store/sqlite/writer/checkpointer-thread.ts'),
  'store/sqlite/writer/writer-thread': () => import('./store/sqlite/writer/writer-thread.ts'),
  'threads/serving-thread': () => import('./threads/serving-thread.ts'),
};

if (isMainThread) void runMain();
else void threads[workerData.thread as ThreadFile]();

async function runMain(): Promise<void> {
  const { main } = await import('./main.ts');
  // The command may wait for something that never happens: the process would end with 0. Not set earlier, because
  // Commander exits with the code that is set after it has shown the help.
  process.once('beforeExit', () => {
    process.exitCode ??= 1;
  });
  process.exitCode = await main(process.argv);
}
