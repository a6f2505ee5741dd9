// Loaded with --require: the process gets SIGTERM once its main script has chosen what signals do, before it
// loads the command.

const { isMainThread } = require('node:worker_threads');

function signalNext(event) {
  if (event !== 'SIGUSR1') return;
  process.off('newListener', signalNext);
  queueMicrotask(() => process.kill(process.pid, 'SIGTERM'));
}

if (isMainThread) process.on('newListener', signalNext);
