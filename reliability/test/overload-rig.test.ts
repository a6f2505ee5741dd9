// Five times the capacity of the service for a few seconds. `npm run rig:overload` is the long run, which checks every
// figure against its goal; the limits here allow for a busy machine.

import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import { overload } from '../overload.ts';
import { canTrace } from '../support/strace.ts';

const SECONDS = 4;
/**
 * Delays that let a busy machine send five times the capacity. Each serving thread has its own batches in
 * flight, so the capacity grows with their number.
 */
const THREADS = availableParallelism();
const DELAYS_MS = { sqlite: 250 * THREADS, postgres: 100 * THREADS };
const MIN_GOODPUT = 0.5;
const HALF_REFUSED_WITHIN_MS = 500;

describe('Five times the capacity', () => {
  for (const database of ['sqlite', 'postgres'] as const) {
    const skip = database === 'sqlite' && !canTrace() && 'strace is not installed or not permitted';
    it(`is served up to the capacity, and rejected quickly beyond it (${database})`, {
      skip,
    }, async (test) => {
      const durations = { peakSeconds: 3, seconds: SECONDS, afterSeconds: SECONDS };
      const figures = await overload({ database, delayMs: DELAYS_MS[database], ...durations });
      test.diagnostic(JSON.stringify(figures));
      const { goodput, wrong, refusedPerSecond, recoverySeconds } = figures;
      const { probeRefusedPerSecond, probeRefusedP50Ms } = figures;
      assert.equal(wrong, 0);
      assert.ok(goodput >= MIN_GOODPUT, `${goodput} of the peak was served`);
      assert.ok(refusedPerSecond > 0);
      assert.ok(probeRefusedPerSecond > 0);
      // The process that sends the excessive load waits for the processor itself.
      assert.ok(probeRefusedP50Ms <= HALF_REFUSED_WITHIN_MS, `the median took ${probeRefusedP50Ms} ms`);
      assert.ok(recoverySeconds < SECONDS, `served again after ${recoverySeconds} s`);
    });
  }
});
