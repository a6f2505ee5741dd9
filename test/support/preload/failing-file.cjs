// Loaded with --require: makes the disk of the database fail once the serving threads other than the main one
// open it.

const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { workerData } = require('node:worker_threads');

if (workerData?.thread?.includes('serving-thread')) {
  fs.accessSync = () => {
    throw Object.assign(new Error('EIO: i/o error, access'), { code: 'EIO', syscall: 'access' });
  };
  syncBuiltinESMExports();
}
