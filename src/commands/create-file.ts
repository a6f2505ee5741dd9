import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { createTemporaryFile, linkIntoPlace, removeOnExit, temporaryPath } from '../system/atomic-file.ts';
import { UsageError } from './exit-code.ts';
import { explainFileError } from './explain-file-error.ts';

/** Creates the file atomically: it appears under its name only after `write` has succeeded. Throws `UsageError`. */
export async function createFile<Result>(
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
