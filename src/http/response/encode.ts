// Encodes large responses. Node copies a string twice: with the headers, and in UTF-8. That takes up to twice the
// processor time, and the first copy stays until the garbage collector runs.

import type { ServerResponse } from 'node:http';
import { freeBytes } from '../free-bytes.ts';

/** Allocating a buffer for a smaller response takes longer than the copies. */
const MIN_CHARACTERS = 32_768;

/** Returns a large text as bytes, which are freed when the response has been sent. */
export function encodeLarge(text: string, response: ServerResponse): string | Buffer {
  if (text.length < MIN_CHARACTERS || response.closed) return text;
  const bytes = Buffer.from(text);
  response.once('close', () => freeBytes(bytes));
  return bytes;
}
