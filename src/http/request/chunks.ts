// Limits the chunks of a body: each takes as much memory as hundreds of bytes, and as much time as kilobytes.

import type { IncomingMessage } from 'node:http';

/** Maximum number of chunks in a body: 64 KiB in chunks of two bytes. */
export const MAX_CHUNKS = 32_768;
/** Number of further chunks after which the client is disconnected: the response may be on its way. */
const MAX_EXCESS = 1_024;

/** Whether the body is sent in chunks, so that its length is unknown. */
export function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}

/** Closes the connection if the parser delivers more chunks from now on, even if nothing reads the body. */
export function limitChunks(message: IncomingMessage): void {
  const push = message.push.bind(message);
  let count = 0;
  message.push = (chunk: Buffer | null): boolean => {
    if (chunk === null || ++count <= MAX_CHUNKS + MAX_EXCESS) return push(chunk);
    message.destroy();
    return false;
  };
}
