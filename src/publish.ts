// A file gets its name when it is whole and on the disk, so that a kill leaves no half of it under that name.

import { closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** The file that is to be made is there. */
export class FileExists extends Error {
  override readonly name = 'FileExists';
}

/**
 * Makes the file, empty and for its owner only; returns what it is called until then. One that somebody else has put
 * there is not written to: its maker could read it.
 */
export function createUnfinished(path: string): string {
  const unfinished = `${path}.${process.pid}.new`;
  // A process that was killed may have had the same id, as the first of every container has.
  rmSync(unfinished, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600));
  return unfinished;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A signal that ends the process takes these files away first, until `stop`: half of an export holds tokens too. */
export function removeAtSignal(paths: readonly string[]): { stop(): void } {
  const onSignal = (signal: NodeJS.Signals): void => {
    stop();
    for (const path of paths) rmSync(path, { force: true });
    process.kill(process.pid, signal);
  };
  const stop = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { stop };
}

/** Gives the finished file its name beside the one it has. Throws `FileExists` where another one has it by now. */
export function publish(unfinished: string, path: string): void {
  sync(unfinished);
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new FileExists(`${path} is there already; name a new file`, { cause: error });
  }
  sync(dirname(path));
}

export function sync(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}
