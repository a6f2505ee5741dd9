// Random bytes in small pieces. A call of the generator takes 1 microsecond regardless of the size, so one call fills a
// pool for about 60 tokens. Bytes that were taken are erased from the pool.

import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4_096);
let position = pool.length;

/** Returns `size` random bytes, at most 4 096, that are never returned again. */
export function takeRandomBytes(size: number): Buffer {
  if (position + size > pool.length) {
    randomFillSync(pool);
    position = 0;
  }
  const taken = Buffer.from(pool.subarray(position, position + size));
  pool.fill(0, position, position + size);
  position += size;
  return taken;
}
