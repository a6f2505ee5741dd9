// Bursts of large bodies. `npm run rig:large-bodies` is the long run, which checks every body, endpoint and figure
// against its goal; the limits here allow for a busy machine.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../../test/support/database.ts';
import { type BurstFigures, brokenPromises, burstOfLargeBodies } from '../large-bodies.ts';

const LIMITS = { turnCpuMs: 100, healthMs: 1_500, answerMs: Number.POSITIVE_INFINITY };

describeOnEachDatabase('Large bodies', (kind) => {
  const burst = async (only: { endpoints: string[]; bodies: string[] }, requests: number) => {
    const figures = await burstOfLargeBodies({ kind, bursts: [requests], only });
    assert.deepEqual(brokenPromises(figures, LIMITS), [], JSON.stringify(figures));
    return figures[0] as BurstFigures;
  };

  it('with unknown fields are rejected in slices or as overloaded while other requests are served', async () => {
    const { answered } = await burst(
      { endpoints: ['resolveUserGroupToken'], bodies: ['unknown fields'] },
      500,
    );
    assert.ok(answered > 0);
  });

  it('of patches at the nesting limit are merged in slices or rejected as overloaded', async () => {
    const deep = { endpoints: ['patchUserGroup'], bodies: ['levels'] };
    const { answered } = await burst(deep, 20);
    assert.ok(answered > 0);
    await burst(deep, 200);
  });

  it('with many numbers are compared with the stored values in slices or rejected as overloaded', async () => {
    const { answered } = await burst({ endpoints: ['getOrCreateUserGroup'], bodies: ['numbers'] }, 200);
    assert.ok(answered > 0);
  });
});
