// Loaded with --require: makes a serving thread throw once the file FAIL_WHEN exists; if FAIL_HOW is block,
// deletes the file and blocks the thread. FAIL_IN selects the thread: main or other.

const { existsSync, rmSync } = require('node:fs');
const threads = require('node:worker_threads');

const { FAIL_HOW, FAIL_IN, FAIL_WHEN = '' } = process.env;
const timer = setInterval(() => {
  const { isMainThread, workerData } = threads;
  const isServing = isMainThread || workerData?.thread?.includes('serving-thread');
  if (!isServing || isMainThread !== (FAIL_IN === 'main') || !existsSync(FAIL_WHEN)) return;
  clearInterval(timer);
  if (FAIL_HOW === 'block') {
    rmSync(FAIL_WHEN);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  throw new Error('a bug in a serving thread');
}, 10).unref();
