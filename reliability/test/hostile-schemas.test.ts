// Hostile schemas of properties. `npm run rig:hostile-schemas` is the long run, which checks every schema against its goal;
// the limits here allow for a busy machine.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../../test/support/database.ts';
import { attackNeighbour, promisesBrokenToNeighbour } from '../hostile-schema-neighbour.ts';
import { brokenPromises, sendHostileSchemas } from '../hostile-schemas.ts';

const LIMITS = { turnCpuMs: 60, answerMs: 20_000 };
const NEIGHBOUR_GRACE_MS = 500;
const ATTACKS = ['many patterns of names, hidden', 'a new schema before every write'];
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

  it('neither fail nor delay the writes of another workspace', async () => {
    const figures = await attackNeighbour({ kind, writers: 4, seconds: 3, only: ATTACKS });
    assert.equal(figures.length, 1 + ATTACKS.length);
    assert.deepEqual(promisesBrokenToNeighbour(figures, NEIGHBOUR_GRACE_MS), [], JSON.stringify(figures));
  });
});
