// A disk that fails is said to fail, and forgiven when it is well again. `npm run rig:io-errors` is the long run, which
// fails every call. Needs strace, and for the full disk the rights of root.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SYNC } from '../../rig/injection.ts';
import { failDisk, type Scenario } from '../../rig/io-errors.ts';
import { Random } from '../../rig/random.ts';
import { canMount } from '../../rig/small-disk.ts';
import { noRemains, startUnder } from '../../rig/start-errors.ts';
import { canTrace } from '../../rig/strace.ts';

const noMount = canMount() ? false : 'no file system may be mounted';

describe('A disk that fails (SQLite)', {
  skip: canTrace() ? false : 'strace is not installed, or may not be used',
}, () => {
  /** Says how many answers were refused. */
  const failing = async (test: TestContext, scenario: Scenario, step = 1): Promise<number> => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    let sum = 0;
    for await (const { refused } of failDisk({ seed, scenarios: [scenario], step, onRun: () => {} }))
      sum += refused;
    return sum;
  };

  it('is a clear 503 whichever write or sync fails, and nothing is done by half', async (test) => {
    assert.ok((await failing(test, 'writing', 4)) > 0);
  });

  it('ends readiness as long as it fails, and no process', async (test) => {
    assert.ok((await failing(test, 'outage')) > 0);
  });

  for (const [call, number] of [
    ['openat', 8],
    ['pwrite64', 20],
    [SYNC, 6],
    ['link', 1],
  ] as const) {
    it(`ends the first start with a word, or not at all, when its ${call} number ${number} fails`, async () => {
      const remains = noRemains();
      using _folder = remains.folder;
      const fault = { call, error: 'EIO', when: String(number) } as const;
      assert.ok((await startUnder(fault, remains, new Random(number))).failed > 0);
    });
  }

  it('can be read when it is full, after a restart too', { skip: noMount }, async (test) => {
    assert.ok((await failing(test, 'full disk')) > 0);
  });
});
