// Hostile schemas of properties. `npm run rig:hostile-schemas` is the long run, which checks every schema against its goal;
// the limits here allow for a busy machine.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../../test/support/database.ts';
import { brokenPromises, sendHostileSchemas } from '../hostile-schemas.ts';

const LIMITS = { turnCpuMs: 60, answerMs: 20_000 };
const SCHEMAS = [
  'deep and wide',
  'many failing schemas',
  'exponential references',
  'endless reference',
  'catastrophic pattern',
  'counted repetition',
];

describeOnEachDatabase('Hostile schemas of properties', (kind) => {
  it('do not block the event loop', async () => {
    const figures = await sendHostileSchemas({ kind, changes: 10, only: SCHEMAS });
    assert.equal(figures.length, SCHEMAS.length);
    assert.deepEqual(brokenPromises(figures, LIMITS), [], JSON.stringify(figures));
  });
});
