// Reads small secret files, such as a key ring. A path to a device, a socket or a huge file must not hang the startup.

import { closeSync, openSync, readSync, statSync } from 'node:fs';

const MAX_BYTES = 1_048_576;

/** Returns the text of a regular file or a pipe. Throws for other file types and for files that are too large. */
export function readSecretFile(path: string): string {
  refuseSpecialFile(path);
  const file = openSync(path, 'r');
  try {
    return readAll(file, path);
  } finally {
    closeSync(file);
  }
}

/** Throws if the path names a directory, a device or a socket: reading these may never end, or block. */
export function refuseSpecialFile(path: string): void {
  const stat = statSync(path);
  if (stat.isDirectory()) throw new Error(`${path} is a directory`);
  // The shell passes <(command) as a pipe.
  if (!stat.isFile() && !stat.isFIFO()) throw new Error(`${path} is neither a regular file nor a pipe`);
}

function readAll(file: number, path: string): string {
  const chunks: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const chunk = Buffer.alloc(4_096);
    const length = readSync(file, chunk);
    if (length === 0) return Buffer.concat(chunks).toString('utf8');
    bytes += length;
    if (bytes > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk.subarray(0, length));
  }
}
