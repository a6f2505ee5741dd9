// Loaded with --require: takes all file descriptors when the command line starts.

const { openSync } = require('node:fs');

process.stdout.once('newListener', () => {
  try {
    for (;;) openSync('/dev/null');
  } catch {}
});
