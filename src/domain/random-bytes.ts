// Random bytes in small pieces. A call of the generator takes 1 microsecond regardless of the size, so one call fills a
// pool for about 60 tokens. Bytes of a secret are erased from the pool when they are taken.

import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4_096);
let position = pool.length;

/** Returns `size` random bytes, at most 4 096, that are never returned again. */
export function takeRandomBytes(size: number): Buffer {
  return take(size, (start, end) => Buffer.from(pool.subarray(start, end)));
}

/** The same as text. */
export function takeRandomText(size: number, encoding: 'base64url' | 'hex'): string {
  return take(size, (start, end) => pool.toString(encoding, start, end));
}

function take<Result>(size: number, read: (start: number, end: number) => Result): Result {
  if (position + size > pool.length) {
    randomFillSync(pool);
    position = 0;
  }
  const start = position;
  position += size;
  const taken = read(start, position);
  pool.fill(0, start, position);
  return taken;
}
