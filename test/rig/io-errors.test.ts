// A disk that fails is said to fail, and forgiven when it is well again. `npm run rig:io-errors` is the long run, which
// fails every call. Needs strace, and for the full disk the rights of root.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { failDisk, type Scenario } from '../../rig/io-errors.ts';
import { Random } from '../../rig/random.ts';
import { canMount } from '../../rig/small-disk.ts';
import { canTrace } from '../../rig/strace.ts';

const noStrace = canTrace() ? false : 'strace is not installed, or may not be used';
const noMount = canMount() ? false : 'no file system may be mounted';

describe('A disk that fails (SQLite)', () => {
  /** Says how many answers were refused. */
  const failing = async (test: TestContext, scenario: Scenario, step = 1): Promise<number> => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    let sum = 0;
    for await (const { refused } of failDisk({ seed, scenarios: [scenario], step, onRun: () => {} }))
      sum += refused;
    return sum;
  };

  it('is a clear 503 whichever write or sync fails, and nothing is done by half', {
    skip: noStrace,
  }, async (test) => {
    assert.ok((await failing(test, 'writing', 4)) > 0);
  });

  it('ends readiness as long as it fails, and no process', { skip: noStrace }, async (test) => {
    assert.ok((await failing(test, 'outage')) > 0);
  });

  it('ends a start with a word, or not at all, and leaves nothing half made', {
    skip: noStrace,
  }, async (test) => {
    await failing(test, 'first start', 100);
  });

  it('can be read when it is full, after a restart too', { skip: noMount }, async (test) => {
    assert.ok((await failing(test, 'full disk')) > 0);
  });
});
