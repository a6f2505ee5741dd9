// What has to be done however a process ends, but by a kill.

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Does the work once: when it is disposed of, or where a signal ends the process before. */
export function atTheEnd(work: () => void): Disposable {
  let isDone = false;
  const end = (): void => {
    if (isDone) return;
    isDone = true;
    work();
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    end();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { [Symbol.dispose]: end };
}
