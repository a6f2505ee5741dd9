// Loaded with --require: each thread writes the names of the modules that it has loaded to a file in LOADED_MODULES.

const { writeFileSync } = require('node:fs');
const { threadId } = require('node:worker_threads');

process.on('exit', () => {
  writeFileSync(
    `${process.env.LOADED_MODULES}/${threadId}`,
    [...process.moduleLoadList, ...Object.keys(require.cache)].join('\n'),
  );
});
