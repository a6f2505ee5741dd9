// Loaded with --require: each thread writes the names of its loaded built-in modules to a file in LOADED_MODULES.

const { writeFileSync } = require('node:fs');
const { threadId } = require('node:worker_threads');

process.on('exit', () => {
  writeFileSync(`${process.env.LOADED_MODULES}/${threadId}`, process.moduleLoadList.join('\n'));
});
