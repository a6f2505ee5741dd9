import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { Argument } from 'commander';
import { createTemporaryFile, linkIntoPlace, removeOnExit, temporaryPath } from '../system/atomic-file.ts';
import { explainFileError, UsageError } from './exit-code.ts';

/** The value is undefined for standard output. */
export function outputArgument(): Argument {
  return new Argument('[file]', 'file to create; standard output if it is - or omitted').argParser((file) =>
    file === '-' ? undefined : file,
  );
}

/** Writes to a file, as `createFile` does, or without one to standard output. */
export function writeOutput<Result>(
  file: string | undefined,
  write: (output: Writable) => Promise<Result>,
): Promise<Result> {
  return file === undefined ? write(process.stdout) : createFile(file, write);
}

/** Creates the file atomically: it appears under its name only after `write` has succeeded. Throws `UsageError`. */
async function createFile<Result>(
  file: string,
  write: (output: Writable) => Promise<Result>,
): Promise<Result> {
  const unfinished = temporaryPath(file);
  using _removal = removeOnExit([unfinished]);
  try {
    createTemporaryFile(unfinished);
    // Not 'w', which would create the file again if a signal handler has removed it in the meantime.
    const handle = await open(unfinished, 'r+');
    const result = await write(handle.createWriteStream());
    linkIntoPlace(unfinished, file);
    return result;
  } catch (error) {
    return explainFileError(error, (message) => new UsageError(`cannot write ${file}: ${message}`));
  }
}
