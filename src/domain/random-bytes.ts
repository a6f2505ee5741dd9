// Random bytes in small pieces. A call of the generator takes 1 microsecond regardless of the size, so one call fills a
// pool for about 60 tokens. Bytes of a secret are erased from the pool when they are taken.

import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4_096);
let position = pool.length;

/** Returns `size` random bytes, at most 4 096, that are never returned again. */
export function takeRandomBytes(size: number): Buffer {
  const start = reserve(size);
  const taken = Buffer.from(pool.subarray(start, position));
  pool.fill(0, start, position);
  return taken;
}

/** The same as hexadecimal digits, for what is no secret: they are not erased. */
export function takeRandomHex(size: number): string {
  return pool.toString('hex', reserve(size), position);
}

/** Returns where the next `size` bytes start, which end at `position`. */
function reserve(size: number): number {
  if (position + size > pool.length) {
    randomFillSync(pool);
    position = 0;
  }
  position += size;
  return position - size;
}
