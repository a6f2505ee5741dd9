// The service reports disk errors, and recovers when they end. `npm run rig:io-errors` is the long run, which makes every
// call fail. Requires strace, and root privileges for the full disk.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { emptyState, startUnder } from '../io-errors/start-errors.ts';
import { failDisk, type Scenario } from '../io-errors.ts';
import { SYNC } from '../support/injection.ts';
import { Random } from '../support/random.ts';
import { canMount } from '../support/small-disk.ts';
import { canTrace } from '../support/strace.ts';

const noMount = canMount() ? false : 'mounting a file system is not permitted';

describe('A failing disk (SQLite)', {
  skip: canTrace() ? false : 'strace is not installed or not permitted',
}, () => {
  /** Returns the number of rejected calls. */
  const countRefused = async (test: TestContext, scenario: Scenario, step = 1): Promise<number> => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    let sum = 0;
    for await (const { refused } of failDisk({ seed, scenarios: [scenario], step, onRun: () => {} }))
      sum += refused;
    return sum;
  };

  it('causes a 503 for any failed write or sync, and no partial change', async (test) => {
    assert.ok((await countRefused(test, 'writing', 4)) > 0);
  });

  it('makes the service not ready while it fails, but does not stop it', async (test) => {
    assert.ok((await countRefused(test, 'outage')) > 0);
  });

  for (const [call, number] of [
    ['openat', 8],
    ['pwrite64', 20],
    [SYNC, 6],
    ['link', 1],
  ] as const) {
    it(`fails the first start with a clear error, or not at all, when its ${call} number ${number} fails`, async () => {
      const state = emptyState();
      using _folder = state.folder;
      const fault = { call, error: 'EIO', when: String(number) } as const;
      assert.ok((await startUnder(fault, state, new Random(number))) > 0);
    });
  }

  it('can be read when it is full, also after a restart', { skip: noMount }, async (test) => {
    assert.ok((await countRefused(test, 'full disk')) > 0);
  });
});
