// Loaded with --require: leaves no file descriptor free at the moment NO_FILE_AT: when the command line
// starts, when its serving threads run and it loads the server, when it opens a database file, or when a
// serving thread other than the main one listens.

const { openSync } = require('node:fs');
const { registerHooks, syncBuiltinESMExports } = require('node:module');
const { Server } = require('node:net');
const sqlite = require('node:sqlite');
const { isMainThread } = require('node:worker_threads');

function takeAll() {
  try {
    for (;;) openSync('/dev/null');
  } catch {}
}

const moments = {
  start: () => process.stdout.once('newListener', takeAll),
  load: () => {
    const load = (url, context, next) => {
      if (isMainThread && /\/app(?:-\w+)?\.[jt]s$/.test(url))
        throw new Error(`EMFILE: too many open files, open '${url}'`);
      return next(url, context);
    };
    registerHooks({ load });
  },
  open: () => {
    sqlite.DatabaseSync = class extends sqlite.DatabaseSync {
      constructor(...args) {
        takeAll();
        try {
          super(...args);
        } catch (error) {
          // Other threads may have closed files in the meantime.
          takeAll();
          throw error;
        }
      }
    };
    syncBuiltinESMExports();
  },
  listen: () => {
    const { listen } = Server.prototype;
    Server.prototype.listen = function (...args) {
      if (!isMainThread) takeAll();
      return listen.apply(this, args);
    };
  },
};

moments[process.env.NO_FILE_AT]();
