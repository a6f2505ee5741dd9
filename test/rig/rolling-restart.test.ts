// Processes are replaced while they are used. `npm run rig:rolling-restart -- --restarts 100` is the long run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { restartInTurn } from '../../rig/rolling-restart.ts';
import { postgres } from '../database.ts';

const RESTARTS = 2;

describe('Processes that are replaced one after the other', () => {
  it(`fail no call of a client that repeats, and lose nothing, in ${RESTARTS} restarts`, async (test) => {
    const onFailure = (failure: string) => test.diagnostic(failure);
    const figures = await restartInTurn({
      kind: postgres,
      processes: 2,
      restarts: RESTARTS,
      onRestart: () => {},
      onFailure,
    });
    test.diagnostic(JSON.stringify(figures));
    const { failed, lost, repeated, groups } = figures;
    assert.deepEqual({ failed, lost }, { failed: 0, lost: 0 });
    assert.ok(groups > 0 && repeated > 0, 'callers met the restarts');
  });
});
