// Loaded with --require: makes the system refuse every serving thread except one besides the main thread.

const { syncBuiltinESMExports } = require('node:module');
const threads = require('node:worker_threads');

let started = 0;
threads.Worker = class extends threads.Worker {
  constructor(code, options) {
    const isServing = options.workerData?.thread?.includes('serving-thread');
    if (isServing && started++ > 0)
      throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
    super(code, options);
  }
};
syncBuiltinESMExports();
