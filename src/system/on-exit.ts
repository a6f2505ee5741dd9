// Clean-up on exit, SIGINT, SIGTERM and SIGHUP.

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs `cleanUp` once: on disposal, or earlier if a signal ends the process. */
export function onExit(cleanUp: () => void): Disposable {
  let isDone = false;
  const end = (): void => {
    if (isDone) return;
    isDone = true;
    cleanUp();
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    end();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { [Symbol.dispose]: end };
}
