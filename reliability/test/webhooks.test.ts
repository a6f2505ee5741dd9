// A killed process loses no webhook. `npm run rig:webhooks -- --kills 200` is the long run.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../../test/support/database.ts';
import { PromiseBroken } from '../ledger.ts';
import { Random } from '../random.ts';
import { killDelivering } from '../webhooks.ts';

const KILLS = 8;

describeOnEachDatabase('kill -9 while webhooks are delivered', (kind) => {
  const seed = Random.newSeed();
  const options = { kind, seed, processes: kind.name === 'SQLite' ? 1 : 2, onKill: () => {} };

  it(`loses none in ${KILLS} kills`, async (test) => {
    const { duplicates, events } = await killDelivering({ ...options, kills: KILLS });
    test.diagnostic(`seed ${seed}, ${events} events, ${duplicates} duplicates`);
  });

  it('is detected when it loses one', async () => {
    const corruptingSql = "delete from deliveries where state = 'pending'";
    await assert.rejects(killDelivering({ ...options, kills: 4, corruptingSql }), PromiseBroken);
  });
});
