// Limits the garbage in the heap. V8 sizes its heap by the memory of the machine, and the command line of Node accepts few
// of the flags that change this.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Growth of the old generation until its next collection, relative to what was in use after the last one. */
const GROWTH_PERCENT = 50;

/**
 * Limits the heaps of the threads of a service. Otherwise V8 lets each grow to as much as four times what is
 * in use, which a serving thread reaches when callers make it read large configurations or lists.
 */
export function limitHeaps(): void {
  // Read after every collection, in all threads of the process.
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  // Otherwise the main thread's flag on the command line would replace `resourceLimits` of later threads.
  setFlagsFromString('--max-semi-space-size=0');
}

/**
 * Keeps the young generation at its present size, for a command that reads everything once: otherwise the heap grows by
 * 80 MB before V8 collects what the pages of a long scan leave behind. The result collects all garbage, which takes 20 ms.
 */
export function keepHeapSmall(): () => void {
  // Read whenever the generation may grow.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
