// Five times what the service can do, for seconds. `npm run rig:overload` is the long run, which holds every figure to
// its goal; here a busy machine has its share of them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { overload } from '../../rig/overload.ts';
import { canTrace } from '../../rig/strace.ts';

const SECONDS = 4;
/** So slow that five times what can be done is little enough for a busy machine to send. */
const DELAYS_MS = { sqlite: 250, postgres: 100 };
const LEAST_GOODPUT = 0.5;
const HALF_REFUSED_WITHIN_MS = 500;

describe('Five times too much work', () => {
  for (const database of ['sqlite', 'postgres'] as const) {
    const skip = database === 'sqlite' && !canTrace() && 'strace cannot be run here';
    it(`is done as far as it can be, and refused quickly beyond that (${database})`, {
      skip,
    }, async (test) => {
      const durations = { peakSeconds: 3, seconds: SECONDS, afterSeconds: SECONDS };
      const figures = await overload({ database, delayMs: DELAYS_MS[database], ...durations });
      test.diagnostic(JSON.stringify(figures));
      const { goodput, wrong, refusedPerSecond, refusedP50Ms, recoverySeconds } = figures;
      assert.equal(wrong, 0);
      assert.ok(goodput >= LEAST_GOODPUT, `${goodput} of the peak was served`);
      assert.ok(refusedPerSecond > 0);
      assert.ok(refusedP50Ms <= HALF_REFUSED_WITHIN_MS, `half were refused within ${refusedP50Ms} ms`);
      assert.ok(recoverySeconds < SECONDS, `served again after ${recoverySeconds} s`);
    });
  }
});
