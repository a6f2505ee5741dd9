import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Argument } from 'commander';
import { linkIntoPlace, refuseExistingFile, unfinishedFile } from '../system/atomic-file.ts';
import { explainFileError, UsageError } from './exit-code.ts';

/** The value is undefined for standard output. Throws `FileExists`. */
export function outputArgument(): Argument {
  return new Argument('[file]', 'file to create; standard output if it is - or omitted').argParser((file) => {
    if (file === '-') return undefined;
    refuseExistingFile(file);
    return file;
  });
}

type Chunks = Iterable<string> | AsyncIterable<string | Buffer>;

/** Writes to the file as `createFile` does, or to standard output without one. */
export async function writeOutput(file: string | undefined, chunks: Chunks): Promise<void> {
  if (file !== undefined) return createFile(file, chunks);
  await pipeline(chunks, process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    // The reader, such as `head`, may close it early.
    if (error.code !== 'EPIPE') throw error;
  });
}

/** Creates the file atomically: it appears under its name only when it is complete. Throws `UsageError`. */
async function createFile(file: string, chunks: Chunks): Promise<void> {
  try {
    using unfinished = unfinishedFile(file);
    // Not 'w', which would create the file again if a signal handler has removed it in the meantime.
    const handle = await open(unfinished.path, 'r+');
    await pipeline(chunks, handle.createWriteStream());
    linkIntoPlace(unfinished.path, file);
  } catch (error) {
    return explainFileError(error, (message) => new UsageError(`cannot write ${file}: ${message}`));
  }
}
