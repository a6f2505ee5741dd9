// What signals do until a command handles them. Loaded before anything else, in plain JavaScript without recent syntax.

// Node opens its inspector on this signal by default, and the inspector can read the keys.
process.on('SIGUSR1', () => {});

// The first process of a container ignores a signal that it does not handle, so it could not be stopped while it loads
// a command, or runs one such as `import`.
if (process.pid === 1) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, endUnlessHandled);
}

/**
 * Ends the process as other processes end, unless another listener decides.
 *
 * @param {NodeJS.Signals} signal
 * @param {number} number
 */
function endUnlessHandled(signal, number) {
  if (process.listenerCount(signal) === 1) process.exit(128 + number);
}
