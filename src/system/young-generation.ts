// Limits the memory of commands that read everything once.

import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the young generation of the heap at its present size. It would grow to 50 MB with everything that survives a
 * collection, although the pages of a long scan live only until the next one.
 */
export function stopGrowthOfYoungGeneration(): void {
  // Read whenever the generation may grow. The maximum size, in contrast, is fixed when the process starts.
  setFlagsFromString('--semi-space-growth-factor=1');
}
