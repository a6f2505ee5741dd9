// Loaded with --require: makes a serving thread throw, or block if FAIL_HOW is block, once the file FAIL_WHEN
// exists. FAIL_IN selects the thread: main or other.

const { existsSync } = require('node:fs');
const threads = require('node:worker_threads');

const { FAIL_HOW, FAIL_IN, FAIL_WHEN = '' } = process.env;
const timer = setInterval(() => {
  const { isMainThread, workerData } = threads;
  const isServing = isMainThread || workerData?.thread?.includes('serving-thread');
  if (!isServing || isMainThread !== (FAIL_IN === 'main') || !existsSync(FAIL_WHEN)) return;
  clearInterval(timer);
  if (FAIL_HOW === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('a bug in a serving thread');
}, 10).unref();
