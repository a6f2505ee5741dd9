// Loaded into a service (`--import`): on a signal, replaces objects during several garbage collections, and
// prints how much larger the peak of the heap was than the part in use.

import { isMainThread } from 'node:worker_threads';

const OBJECTS = 200_000;
/** Number of rounds; in the first ones, V8 determines how large a heap it needs. */
const ROUNDS = 50;
const MEASURED_ROUNDS = 25;

if (isMainThread) process.on('SIGUSR2', () => console.log(`heap: ${peakRelativeToUse()} times`));

function peakRelativeToUse(): number {
  const live = Array.from({ length: OBJECTS }, objectOf);
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let round = 0; round < ROUNDS; round++)
    for (let index = 0; index < OBJECTS; index++) {
      live[index] = objectOf(null, index);
      if (round < ROUNDS - MEASURED_ROUNDS || index % 10_000 !== 0) continue;
      const { heapUsed } = process.memoryUsage();
      [least, most] = [Math.min(least, heapUsed), Math.max(most, heapUsed)];
    }
  return most / least;
}

function objectOf(_: unknown, index: number): object {
  return { index, numbers: [index, index, index, index] };
}
