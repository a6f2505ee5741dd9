// Random bytes in small pieces. The generator costs 1 microsecond a call, however little is asked of it, so one
// call fills a pool that serves about 60 tokens. What was taken is wiped from the pool.

import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4_096);
let position = pool.length;

/** `size` random bytes, at most 4 096, that nobody else gets. */
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
